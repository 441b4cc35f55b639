//! Sysctls by name, and by path below /proc/sys.

/// The path below /proc/sys that a name stands for. Where the first separator is a dot the others are as well, and a
/// slash within a part stands for a dot (sysctl.d(5)).
pub fn path(name: &str) -> String {
    match name.find(['.', '/']) {
        Some(at) if name[at..].starts_with('.') => {
            let swap = |c| match c {
                '.' => '/',
                '/' => '.',
                c => c,
            };
            name.chars().map(swap).collect()
        }
        _ => name.to_owned(),
    }
}

/// The name of a path below /proc/sys. Where a part of it has a dot of its own (an interface `eth0.5`), slashes separate
/// the parts.
pub fn name(path: &str) -> String {
    match path.contains('.') {
        true => path.to_owned(),
        false => path.replace('/', "."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_name_stands_for_its_path(
            // A first part with a dot is in no kernel, and cannot be written.
            first in "[a-z][a-z0-9_]{0,5}",
            parts in proptest::collection::vec("[a-z][a-z0-9_.]{0,5}", 1..4),
        ) {
            let whole = format!("{first}/{}", parts.join("/"));
            prop_assert_eq!(path(&name(&whole)), whole);
        }
    }
}
