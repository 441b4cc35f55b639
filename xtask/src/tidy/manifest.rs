//! As much of a Cargo.toml as the rules need: `key = value` lines by section.

/// A `key = value` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// The `[section]` it stands in, empty at the top.
    pub(super) section: &'a str,
    pub(super) key: &'a str,
    /// As written, with quotes and braces.
    pub(super) value: &'a str,
    /// Counted from 1.
    pub(super) line: usize,
}

/// A dependency as a manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency<'a> {
    /// The package, not what it is renamed to.
    pub(super) package: &'a str,
    /// Only tests, examples and benches have it.
    pub(super) dev: bool,
    pub(super) line: usize,
}

/// Every entry, in order.
pub(super) fn entries(manifest: &str) -> Vec<Entry<'_>> {
    let mut section = "";
    let mut entries = Vec::new();
    for (number, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.split(']').next().unwrap_or(header).trim();
            // A dependency with a section of its own is there even if the section is empty.
            if let Some((_, name)) = table_dependency(section) {
                entries.push(Entry { section, key: name, value: "", line: number + 1 });
            }
        } else if let Some((key, value)) = line.split_once('=')
            && !line.starts_with('#')
        {
            entries.push(Entry { section, key: key.trim(), value: value.trim(), line: number + 1 });
        }
    }
    entries
}

/// The value of `key` in `section`, without quotes. `a.b = x` in `[s]` is `b` in `[s.a]` as well.
pub(super) fn value<'a>(manifest: &'a str, section: &str, key: &str) -> Option<&'a str> {
    let wanted = format!("{section}.{key}");
    entries(manifest)
        .into_iter()
        .find(|entry| format!("{}.{}", entry.section, entry.key).trim_start_matches('.') == wanted)
        .map(|entry| unquoted(entry.value.split(" #").next().unwrap_or(entry.value)))
}

/// All dependencies: normal, build and dev, of every target.
pub(super) fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    for entry in entries(manifest) {
        let (section, own_table) = match table_dependency(entry.section) {
            Some((section, _)) => (section, true),
            None => (entry.section, false),
        };
        let kind = section.rsplit('.').next().unwrap_or(section);
        let renamed = if own_table && entry.key == "package" {
            Some(unquoted(entry.value))
        } else {
            renamed(entry.value)
        };
        let is_name = !own_table || entry.value.is_empty() || entry.key == "package";
        if is_name
            && matches!(kind, "dependencies" | "dev-dependencies" | "build-dependencies")
            && !section.starts_with("workspace")
        {
            let named = entry.key.split('.').next().unwrap_or(entry.key);
            let package = renamed.unwrap_or(unquoted(named));
            found.push(Dependency { package, dev: kind == "dev-dependencies", line: entry.line });
        }
    }
    found
}

/// `dependencies.x` as the section and the name.
fn table_dependency(section: &str) -> Option<(&str, &str)> {
    let (before, name) = section.rsplit_once('.')?;
    before.ends_with("dependencies").then_some((before, name))
}

/// The `package = "..."` of an inline table.
fn renamed(value: &str) -> Option<&str> {
    let (_, after) = value.split_once("package")?;
    let after = after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
    after.split('"').next()
}

fn unquoted(value: &str) -> &str {
    value.trim().trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_in_its_section_however_it_is_dotted() {
        let manifest = "[package]\nname = \"whylate-base\"\n[lints]\nworkspace = true # all\n";
        assert_eq!(value(manifest, "package", "name"), Some("whylate-base"));
        assert_eq!(value(manifest, "lints", "workspace"), Some("true"));
        assert_eq!(value(manifest, "package", "workspace"), None);
        assert_eq!(value("lints.workspace = true\n", "lints", "workspace"), Some("true"));
        assert_eq!(value("[lints]\n# workspace = true\n", "lints", "workspace"), None);
    }

    #[test]
    fn dependencies_are_found_in_every_form() {
        let manifest = r#"
[package]
name = "x"
[dependencies]
whylate-base.workspace = true
"whylate-sys" = { path = "../sys" }
events = { package = "whylate-events", path = "../events" }
[dev-dependencies]
proptest.workspace = true
[target.'cfg(unix)'.build-dependencies]
cc = "1"
[dependencies.libc]
version = "0.2"
features = ["std"]
[features]
dependencies-of = []
"#;
        let found: Vec<(&str, bool)> =
            dependencies(manifest).iter().map(|found| (found.package, found.dev)).collect();
        let expected = [
            ("whylate-base", false),
            ("whylate-sys", false),
            ("whylate-events", false),
            ("proptest", true),
            ("cc", false),
            ("libc", false),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_table_of_the_workspace_is_no_dependency() {
        assert_eq!(dependencies("[workspace.dependencies]\nlibc = \"0.2\"\n"), []);
    }
}
