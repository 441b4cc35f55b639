//! Text inside an event, which has a fixed size.

use whylate_base::Text;

/// A short name inside an event: an interrupt's action, a driver.
pub type Name = Text<30>;
/// A kernel function's name, cut where it is very long.
pub type Symbol = Text<39>;
/// A line written to `trace_marker`, cut at 62 bytes.
pub type Marker = Text<62>;
