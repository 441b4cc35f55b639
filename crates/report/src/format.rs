//! The formats of reports.

use std::path::Path;

/// A format that a report can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for a terminal.
    Text,
    /// A JSON document with a versioned schema.
    Json,
    /// One self-contained page.
    Html,
    /// Markdown in GitHub's dialect.
    Markdown,
    /// The plots or the timeline alone.
    Svg,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
}

impl Format {
    /// The name that `--format` takes.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Html => "html",
            Format::Markdown => "markdown",
            Format::Svg => "svg",
            Format::Sarif => "sarif",
            Format::Junit => "junit",
        }
    }

    /// What the format is good for, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Format::Text => "Text for a terminal",
            Format::Json => "A JSON document with a versioned schema",
            Format::Html => "One self-contained HTML page",
            Format::Markdown => "Markdown for an issue or a pull request",
            Format::Svg => "The drawings alone, as one SVG file",
            Format::Sarif => "SARIF 2.1.0 for code hosts and editors",
            Format::Junit => "JUnit XML for CI servers: a test fails where --fail-on makes the command fail",
        }
    }

    /// How the name of a file in this format ends, with the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Text => ".txt",
            Format::Json => ".json",
            Format::Html => ".html",
            Format::Markdown => ".md",
            Format::Svg => ".svg",
            Format::Sarif => ".sarif",
            Format::Junit => ".xml",
        }
    }

    /// The format among `formats` that a file's name ends with; `None` where it ends with none of them.
    pub fn of_file(path: &Path, formats: &[Format]) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let extension = if extension == "htm" { "html" } else { &extension };
        formats.iter().copied().find(|format| format.ending().strip_prefix('.') == Some(extension))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_selects_a_format() {
        let all = [Format::Text, Format::Html, Format::Markdown];
        let of = |name: &str| Format::of_file(Path::new(name), &all);
        assert_eq!(of("a/b.HTML"), Some(Format::Html));
        assert_eq!(of("b.htm"), Some(Format::Html));
        assert_eq!(of("b.c.md"), Some(Format::Markdown));
        assert_eq!(of("b.sarif"), None);
        assert_eq!(of("html"), None);
    }
}
