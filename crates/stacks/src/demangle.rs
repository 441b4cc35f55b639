//! Names of functions as their sources have them.
//!
//! Only a name that a compiler mangled is read: `_Z` of the Itanium C++ ABI, which Rust's legacy names have as well, and
//! `_R` of Rust (RFC 2603). Every short name is a type of the C++ ABI, too: the C function `rt` would become
//! `unsigned short restrict`.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Of the mangled name and of what it stands for. A mangled name may refer to its own parts, and so stand for more than
/// any memory holds.
const MOST_BYTES: usize = 16 << 10;

/// The name that a mangled one stands for; any other stays as it is.
pub(crate) fn demangled(name: &str) -> Cow<'_, str> {
    let found = match name {
        _ if name.len() > MOST_BYTES => None,
        _ if name.starts_with("_R") || is_legacy_rust(name) => of_rust(name),
        _ if name.starts_with("_Z") => of_cpp(name),
        _ => None,
    };
    found.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// A C++ name whose last part is a hash: `_ZN4core9panicking9panic_fmt17h5f1a6fd39197ad62E`, and maybe `.llvm.12`.
fn is_legacy_rust(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("_ZN") else { return false };
    let whole = rest.split_once('.').map_or(rest, |(whole, _)| whole);
    let hash = whole.strip_suffix('E').and_then(|parts| parts.rsplit_once("17h")).map(|(_, hash)| hash);
    hash.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn of_rust(name: &str) -> Option<String> {
    let found = rustc_demangle::try_demangle(name).ok()?;
    let mut text = Limited::default();
    // Without the hash.
    write!(text, "{found:#}").ok()?;
    Some(text.0)
}

fn of_cpp(name: &str) -> Option<String> {
    let found = cpp_demangle::Symbol::new(name).ok()?;
    let mut text = Limited::default();
    found.structured_demangle(&mut text, &cpp_demangle::DemangleOptions::default()).ok()?;
    Some(text.0)
}

/// Text of at most [`MOST_BYTES`].
#[derive(Default)]
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len().saturating_add(text.len()) > MOST_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_mangled_names_change() {
        for (name, expected) in [
            ("rt", "rt"),
            ("i", "i"),
            ("f", "f"),
            ("v", "v"),
            ("PKc", "PKc"),
            ("St", "St"),
            ("N3foo3barE", "N3foo3barE"),
            ("ZN3foo3barE", "ZN3foo3barE"),
            ("RNvC6_123foo3bar", "RNvC6_123foo3bar"),
            ("main", "main"),
            ("", ""),
            ("_", "_"),
            ("_Z", "_Z"),
            ("_R", "_R"),
            ("_Zebra", "_Zebra"),
            ("_Really_a_C_name", "_Really_a_C_name"),
            ("operator()", "operator()"),
            ("_Z4stepi", "step(int)"),
            ("_ZN5plant5QueueIlE4pushEl", "plant::Queue<long>::push(long)"),
            ("_ZN5plant4stepEv.cold", "plant::step() [clone .cold]"),
            ("_ZN4core9panicking9panic_fmt17h5f1a6fd39197ad62E", "core::panicking::panic_fmt"),
            ("_ZN4core9panicking9panic_fmt17h5f1a6fd39197ad62E.llvm.77", "core::panicking::panic_fmt"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
        ] {
            assert_eq!(demangled(name), expected, "{name}");
        }
    }

    /// `f(pair<int, int>, pair<S0_, S0_>, pair<S1_, S1_>, ...)`: each parameter is twice as long as the one before.
    #[test]
    fn a_name_that_stands_for_too_much_stays() {
        let doubled = |times: u32| {
            let more = (0..times).filter_map(|n| char::from_digit(n, 36)).map(|n| n.to_ascii_uppercase());
            more.fold("_Z1f4pairIiiE".to_owned(), |name, n| name + &format!("S_IS{n}_S{n}_E"))
        };
        assert_eq!(demangled(&doubled(1)), "f(pair<int, int>, pair<pair<int, int>, pair<int, int> >)");
        let (large, long) = (doubled(36), format!("_Z{}", "x".repeat(MOST_BYTES)));
        assert!(demangled(&large) == large && demangled(&long) == long);
    }

    proptest! {
        #[test]
        fn any_name_is_survived(start in "(_Z|_R|_ZN)?", rest in "[A-Za-z0-9_.$]{0,60}", any in "\\PC{0,20}") {
            for name in [format!("{start}{rest}"), format!("{start}{any}")] {
                let found = demangled(&name);
                prop_assert!(found == name || name.starts_with("_Z") || name.starts_with("_R"), "{}", name);
            }
        }
    }
}
