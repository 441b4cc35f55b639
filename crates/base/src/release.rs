//! The release of a kernel, as `uname -r` prints it.

/// Its first two numbers: `6.1.0-50-rt-amd64` is (6, 1). `None` where it does not begin with two.
pub fn release_version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::release_version;

    #[test]
    fn releases_have_versions() {
        assert_eq!(release_version("6.12.9-rt-amd64"), Some((6, 12)));
        assert_eq!(release_version("5.4.140-rt64"), Some((5, 4)));
        assert_eq!(release_version("unknown"), None);
    }
}
