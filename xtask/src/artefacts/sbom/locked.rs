//! The checksums of Cargo.lock.

use std::collections::BTreeMap;

/// A package's name and version: cargo's ids have paths of this machine.
pub(in crate::artefacts) type Package = (String, String);

/// The checksum of each package that has one: those of the workspace have none.
pub(super) fn checksums(lock: &str) -> BTreeMap<Package, String> {
    let mut found = BTreeMap::new();
    for part in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = part.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            line.map(|value| value.trim_matches('"').to_owned())
        };
        if let (Some(name), Some(version), Some(sum)) = (value("name"), value("version"), value("checksum")) {
            found.insert((name, version), sum);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::checksums;

    #[test]
    fn packages_of_a_registry_have_a_checksum() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"x\"\nchecksum = \"ab12\"\n\n\
                    [[package]]\nname = \"own\"\nversion = \"0.1.0\"\ndependencies = [\n \"a\",\n]\n";
        let found = checksums(lock);
        assert_eq!(found.get(&("a".to_owned(), "1.0.0".to_owned())).map(String::as_str), Some("ab12"));
        assert_eq!(found.len(), 1);
    }
}
