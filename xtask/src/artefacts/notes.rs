//! The release's section of the changelog.

use super::facts::ReleaseFacts;
use super::work::write;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// The file's name.
pub(super) const NAME: &str = "RELEASE-NOTES.md";

/// Writes the section of the version; where it has none yet, what is not released.
pub(super) fn make(root: &Path, facts: &ReleaseFacts) -> Result<()> {
    let path = root.join("CHANGELOG.md");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let section = section(&text, &facts.version).or_else(|| section(&text, "Unreleased"));
    let section =
        section.with_context(|| format!("{} has no section [{}]", path.display(), facts.version))?;
    write(&facts.output.join(NAME), format!("# whylate {}\n\n{section}\n", facts.version).as_bytes())
}

/// What stands below `## [NAME]`, up to the next one.
fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let heading = format!("\n## [{name}]");
    let start = text.find(&heading)? + heading.len();
    let start = start + text[start..].find('\n')?;
    let end = text[start..].find("\n## ").map_or(text.len(), |at| start + at);
    Some(text[start..end].trim()).filter(|section| !section.is_empty())
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let text = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- x\n\n## [0.1.0]\n\n- y\n";
        assert_eq!(section(text, "0.2.0"), Some("### Added\n\n- x"));
        assert_eq!(section(text, "0.1.0"), Some("- y"));
        assert_eq!((section(text, "Unreleased"), section(text, "0.3.0")), (None, None));
    }
}
