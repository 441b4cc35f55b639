//! Names with `*`.

/// Whether a name is of a glob: `*` stands for any characters, also none. Everything else is itself.
pub(crate) fn glob(pattern: &str, name: &str) -> bool {
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
