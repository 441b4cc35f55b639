//! Names with `*`.

/// Whether a name is of a glob: `*` stands for any characters, also none. Everything else is itself.
pub fn glob(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        match parts.peek() {
            // The last one ends the name.
            None => return left.ends_with(part),
            Some(_) => match left.find(part) {
                Some(at) => left = &left[at + part.len()..],
                None => return false,
            },
        }
    }
    left.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("ktimers", "ktimers/0", false),
            ("ktimers/*", "ktimers/0", true),
            ("irq/*-eth0*", "irq/24-eth0-rx", true),
            ("a*bc*c", "abc", false),
            ("ab*ba", "aba", false),
            ("*ab*b", "xabb", true),
            ("a**b", "ab", true),
            ("", "x", false),
        ] {
            assert_eq!(glob(pattern, name), fits, "{pattern} on {name}");
        }
    }
}
