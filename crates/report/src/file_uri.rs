//! Paths as URIs, for SARIF.

/// RFC 8089; all but unreserved characters and the slash as `%XX` (RFC 3986, 2.1). A relative path becomes a relative
/// reference.
pub(crate) fn file_uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::file_uri;

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(file_uri("/proc/irq/24/x y%"), "file:///proc/irq/24/x%20y%25");
        assert_eq!(file_uri("/sys/é"), "file:///sys/%C3%A9");
        assert_eq!(file_uri("src/a b.c"), "src/a%20b.c");
    }
}
