//! Text inside an event, which has a fixed size.

use whylate_base::Text;

/// A short name inside an event: an interrupt's action, a driver.
pub type Name = Text<30>;
/// A kernel function's name, cut where it is very long.
pub type Symbol = Text<39>;
/// A line written to `trace_marker`, cut at 62 bytes.
pub type Marker = Text<62>;

/// The marker that stands for a probe where an activation of a program begins.
pub const PROBED_BEGIN: &str = "probe: activation begins";
/// The same where it ends.
pub const PROBED_END: &str = "probe: activation ends";

/// A function with the module it is in, as `name [module]`; without the module where both do not fit: the function matters more.
pub fn symbol_in_module(name: &[u8], module: &[u8]) -> Symbol {
    let both = [name, b" [", module, b"]"].concat();
    let symbol = Symbol::from_bytes(&both);
    if symbol.as_bytes() == both { symbol } else { Symbol::from_bytes(name) }
}
