//! The Debian mirror of this machine: apt's sources, in both their formats.
//!
//! sources.list(5): one-line entries (`.list`), and stanzas in the style of deb822 (`.sources`).

use std::path::Path;

/// A mirror of Debian, with the key that signs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mirror {
    /// Its address.
    pub(super) uri: String,
    /// `Signed-By` of its entry: key files, or a key itself, indented as in a stanza.
    pub(super) signed_by: Option<String>,
}

/// One entry: the mirror, and which suites and components it is used for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SourceEntry {
    uris: Vec<String>,
    suites: Vec<String>,
    components: Vec<String>,
    signed_by: Option<String>,
}

/// Suites of Debian itself. Those of updates and security are elsewhere, or not whole.
const SUITES: [&str; 13] = [
    "buster",
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "oldoldstable",
    "oldstable",
    "stable",
    "testing",
    "unstable",
    "experimental",
];

/// The first mirror of Debian that a machine's apt uses; `etc` is `/etc/apt`.
pub(super) fn mirror_of(etc: &Path) -> Option<Mirror> {
    let mut files = vec![etc.join("sources.list")];
    let parts = std::fs::read_dir(etc.join("sources.list.d")).into_iter().flatten().flatten();
    let mut parts: Vec<_> = parts.map(|part| part.path()).collect();
    parts.sort();
    files.append(&mut parts);
    let entries = files.iter().flat_map(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("sources") => parse_stanzas(&text),
            Some("list") => parse_lines(&text),
            _ => Vec::new(),
        }
    });
    entries.filter_map(debian).next()
}

fn debian(entry: SourceEntry) -> Option<Mirror> {
    let of_debian = entry.suites.iter().any(|suite| SUITES.contains(&suite.as_str()));
    let main = entry.components.iter().any(|component| component == "main");
    let uri = entry.uris.into_iter().next().filter(|_| of_debian && main)?;
    Some(Mirror { uri, signed_by: entry.signed_by })
}

/// `deb [signed-by=/usr/share/keyrings/x.gpg] URI SUITE COMPONENT...`
fn parse_lines(text: &str) -> Vec<SourceEntry> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<SourceEntry> {
    let line = line.split('#').next().unwrap_or_default().trim();
    let rest = line.strip_prefix("deb")?.strip_prefix([' ', '\t'])?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let signed_by = options.split_ascii_whitespace().find_map(|option| option.strip_prefix("signed-by="));
    let mut words = rest.split_ascii_whitespace().map(str::to_owned);
    Some(SourceEntry {
        uris: vec![words.next()?],
        suites: vec![words.next()?],
        components: words.collect(),
        signed_by: signed_by.map(|files| files.replace(',', " ")),
    })
}

/// Stanzas of `Field: value`, apart by empty lines; a line that starts with a blank goes on.
fn parse_stanzas(text: &str) -> Vec<SourceEntry> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.split(|line| line.trim().is_empty()).filter_map(parse_stanza).collect()
}

fn parse_stanza(lines: &[&str]) -> Option<SourceEntry> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in lines {
        match (line.starts_with([' ', '\t']), fields.last_mut(), line.split_once(':')) {
            (true, Some((_, value)), _) => {
                value.push('\n');
                value.push_str(line);
            }
            (false, _, Some((name, value))) => {
                fields.push((name.to_ascii_lowercase(), value.trim().to_owned()))
            }
            _ => {}
        }
    }
    let field = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let words =
        |name: &str| field(name).unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect();
    let types: Vec<String> = words("types");
    let enabled = !field("enabled").is_some_and(|value| value.eq_ignore_ascii_case("no"));
    (enabled && types.iter().any(|kind| kind == "deb")).then(|| SourceEntry {
        uris: words("uris"),
        suites: words("suites"),
        components: words("components"),
        signed_by: field("signed-by").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn first(files: &[(&str, &str)]) -> Option<Mirror> {
        let etc = tempfile::tempdir().expect("temporary directory");
        std::fs::create_dir(etc.path().join("sources.list.d")).expect("directory");
        for (name, text) in files {
            std::fs::write(etc.path().join(name), text).expect("file");
        }
        mirror_of(etc.path())
    }

    fn mirror(uri: &str, signed_by: Option<&str>) -> Option<Mirror> {
        Some(Mirror { uri: uri.to_owned(), signed_by: signed_by.map(str::to_owned) })
    }

    #[test]
    fn lines_are_read() {
        for (text, expected) in [
            ("deb http://m.example/debian bookworm main contrib\n", mirror("http://m.example/debian", None)),
            (
                "deb [arch=amd64 signed-by=/k.gpg,/l.gpg]  http://m.example/d/ stable main # x\n",
                mirror("http://m.example/d/", Some("/k.gpg /l.gpg")),
            ),
            ("# deb http://m.example/debian bookworm main\n", None),
            ("deb-src http://m.example/debian bookworm main\n", None),
            ("deb http://m.example/debian bookworm-updates main\n", None),
            ("deb http://m.example/debian bookworm contrib\n", None),
            ("deb http://m.example/ubuntu noble main\n", None),
            ("deb\ndeb [\ndeb http://m.example\n", None),
        ] {
            assert_eq!(first(&[("sources.list", text)]), expected, "{text}");
        }
    }

    #[test]
    fn stanzas_are_read() {
        let two = "Types: deb\n# by the image\nURIs: http://m.example/security\nSuites: bookworm-security\nComponents: main\n\n\
                   types: deb deb-src\nURIs: http://m.example/debian\nSuites: bookworm bookworm-updates\n\
                   Components: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n";
        let expected =
            mirror("http://m.example/debian", Some("/usr/share/keyrings/debian-archive-keyring.gpg"));
        assert_eq!(first(&[("sources.list.d/debian.sources", two)]), expected);
        let disabled = two.replace("Components: main\nSigned", "Components: main\nEnabled: no\nSigned");
        assert_eq!(first(&[("sources.list.d/debian.sources", &disabled)]), None);
        let key = "Types: deb\nURIs: http://m.example/debian\nSuites: sid\nComponents: main\nSigned-By:\n -----BEGIN\n .\n abc\n";
        let expected = mirror("http://m.example/debian", Some("\n -----BEGIN\n .\n abc"));
        assert_eq!(first(&[("sources.list.d/debian.sources", key)]), expected);
    }

    #[test]
    fn other_files_are_passed_over() {
        let line = "deb http://m.example/debian bookworm main";
        assert_eq!(first(&[("sources.list.d/debian.list.save", line)]), None);
        assert_eq!(first(&[]), None);
        let files = [
            ("sources.list.d/z.list", line),
            ("sources.list.d/a.list", "deb http://a.example bookworm main"),
        ];
        assert_eq!(first(&files), mirror("http://a.example", None));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[ \\[\\]:#=a-z\n]{0,200}") {
            let _ = (parse_lines(&text), parse_stanzas(&text));
            let _ = (parse_lines(&text.replace('a', "deb ")), parse_stanzas(&text.replace('a', "Types: deb\n")));
        }
    }
}
