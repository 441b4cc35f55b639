//! Reads the files of TuneD as Python's configparser does with TuneD's options: `=` alone parts name and value, `#`
//! begins a comment also behind a blank, a line that is further to the right continues the value, a section or an
//! option that comes again adds to the former or replaces it.
//!
//! <https://docs.python.org/3/library/configparser.html>

use super::error::{TunedError, TunedLocation};
use super::python::{is_space, strip};
use std::sync::Arc;

/// What every section has in addition, unless it sets otherwise.
const DEFAULT: &str = "DEFAULT";

/// A section, in the order in which they appear first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: Arc<str>,
    /// Where it begins.
    pub(super) location: TunedLocation,
    pub(super) entries: Vec<Entry>,
}

/// An option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// `None`: there is no `=`; only where that is allowed.
    pub(super) value: Option<String>,
    pub(super) location: TunedLocation,
}

/// How a file is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// `tuned.conf`: options are in sections, and have values.
    Profile,
    /// A file of variables or tuned-main.conf: options may come before any section, and without a value.
    Variables,
}

struct Reader<'a> {
    file: &'a Arc<str>,
    kind: FileKind,
    sections: Vec<Section>,
    /// The section that is being read, by index.
    section: Option<usize>,
    /// The option whose value may be continued, by index.
    option: Option<usize>,
    /// How far to the right its line begins.
    indent: usize,
}

/// The sections of a file. What is in `[DEFAULT]` is in each of them.
///
/// # Errors
/// With the line: an option before any section, or a line that is none.
pub(super) fn parse(file: &str, text: &str, kind: FileKind) -> Result<Vec<Section>, TunedError> {
    let file: Arc<str> = file.into();
    let mut reader =
        Reader { file: &file, kind, sections: Vec::new(), section: None, option: None, indent: 0 };
    if kind == FileKind::Variables {
        reader.begin("", 1);
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.split('\n').collect();
    // What follows the last newline is no line.
    let lines = lines.strip_suffix(&[""]).unwrap_or(&lines);
    for (number, line) in lines.iter().enumerate() {
        reader.line(number + 1, line)?;
    }
    Ok(reader.done())
}

/// Where a comment begins, in bytes.
fn comment(line: &str) -> Option<usize> {
    let text = strip(line);
    if text.starts_with('#') || text.starts_with(';') {
        return Some(0);
    }
    let mut before = None;
    for (at, c) in line.char_indices() {
        if c == '#' && before.is_none_or(is_space) {
            return Some(at);
        }
        before = Some(c);
    }
    None
}

impl Reader<'_> {
    fn begin(&mut self, name: &str, line: usize) {
        let known = self.sections.iter().position(|section| &*section.name == name);
        self.section = Some(known.unwrap_or_else(|| {
            let name: Arc<str> = name.into();
            let location = TunedLocation { file: self.file.clone(), section: name.clone(), line };
            self.sections.push(Section { name, location, entries: Vec::new() });
            self.sections.len() - 1
        }));
        self.option = None;
    }

    /// The value that may be continued.
    fn open(&mut self) -> Option<&mut Option<String>> {
        let entry = self.sections.get_mut(self.section?)?.entries.get_mut(self.option?)?;
        Some(&mut entry.value)
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), TunedError> {
        let comment = comment(line);
        let text = strip(&line[..comment.unwrap_or(line.len())]);
        if text.is_empty() {
            // An empty line may be part of a value; one with a comment is not.
            if comment.is_none()
                && let Some(Some(value)) = self.open()
            {
                value.push('\n');
            }
            return Ok(());
        }
        let indent = line.chars().take_while(|&c| is_space(c)).count();
        if indent > self.indent
            && let Some(value) = self.open()
        {
            match value {
                Some(value) => {
                    value.push('\n');
                    value.push_str(text);
                }
                None => {
                    return Err(self.wrong(number, "a line that continues an option without a value"));
                }
            }
            return Ok(());
        }
        self.indent = indent;
        if let Some(header) = text.strip_prefix('[')
            && let Some(end) = header.rfind(']')
            && end > 0
        {
            self.begin(&header[..end], number);
            return Ok(());
        }
        let Some(at) = self.section else {
            return Err(self.wrong(number, "an option before the first [section]"));
        };
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (strip(name), Some(strip(value).to_owned())),
            None if self.kind == FileKind::Variables => (text, None),
            None => return Err(self.wrong(number, "neither a [section] nor an option with a `=`")),
        };
        if name.is_empty() {
            return Err(self.wrong(number, "a value without a name before the `=`"));
        }
        let section = &mut self.sections[at];
        let location = TunedLocation { file: self.file.clone(), section: section.name.clone(), line: number };
        let known = section.entries.iter().position(|entry| entry.name == name);
        self.option = Some(match known {
            Some(known) => {
                section.entries[known].value = value;
                section.entries[known].location = location;
                known
            }
            None => {
                section.entries.push(Entry { name: name.to_owned(), value, location });
                section.entries.len() - 1
            }
        });
        Ok(())
    }

    fn wrong(&self, line: usize, what: &str) -> TunedError {
        let section = self.section.map_or_else(|| "".into(), |at| self.sections[at].name.clone());
        let location = TunedLocation { file: self.file.clone(), section, line };
        TunedError::written(&location, what, "correct that line")
    }

    fn done(mut self) -> Vec<Section> {
        for section in &mut self.sections {
            for entry in &mut section.entries {
                if let Some(value) = &mut entry.value {
                    value.truncate(value.trim_end_matches(is_space).len());
                }
            }
        }
        let default = self.sections.iter().position(|section| &*section.name == DEFAULT);
        let default = default.map(|at| self.sections.remove(at).entries).unwrap_or_default();
        for section in &mut self.sections {
            for entry in &default {
                if !section.entries.iter().any(|own| own.name == entry.name) {
                    section.entries.push(entry.clone());
                }
            }
        }
        self.sections
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Options = Vec<(String, Option<String>)>;

    fn read(text: &str, kind: FileKind) -> Vec<(String, Options)> {
        let sections = parse("/f", text, kind).expect("sections");
        let entries = |section: &Section| {
            section.entries.iter().map(|entry| (entry.name.clone(), entry.value.clone())).collect()
        };
        sections.iter().map(|section| (section.name.to_string(), entries(section))).collect()
    }

    fn some(name: &str, value: &str) -> (String, Option<String>) {
        (name.to_owned(), Some(value.to_owned()))
    }

    #[test]
    fn files_are_read_as_python_reads_them() {
        let text = "; c\n[a]\r\nx = 1 # c\ny=a#b\nz==v\n[b c] junk\n/p/*:q=2\n[a]\nx=3\nlong = one\n  two\n\n  # c\n   three # c\n\n[DEFAULT]\nd=0\n";
        let a = vec![
            some("x", "3"),
            some("y", "a#b"),
            some("z", "=v"),
            some("long", "one\ntwo\n\nthree"),
            some("d", "0"),
        ];
        let b = vec![some("/p/*:q", "2"), some("d", "0")];
        assert_eq!(read(text, FileKind::Profile), [("a".to_owned(), a), ("b c".to_owned(), b)]);
    }

    #[test]
    fn variables_need_no_section_and_no_value() {
        let text = "# c\nv = 1\nbare\n[s]\nw=\n";
        assert_eq!(
            read(text, FileKind::Variables),
            [
                (String::new(), vec![some("v", "1"), ("bare".to_owned(), None)]),
                ("s".to_owned(), vec![some("w", "")]),
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, what) in [
            ("\nx=1\n", 2, "before the first"),
            ("[a]\nx=1\nnonsense\n", 3, "neither"),
            ("[a]\n=1\n", 2, "without a name"),
        ] {
            let error = parse("/f", text, FileKind::Profile).expect_err("wrong");
            let TunedError::Written { location, what: reported, .. } = &error else { panic!("{error}") };
            assert_eq!(location.line, line);
            assert!(reported.contains(what), "{reported}");
            assert!(error.to_string().starts_with(&format!("/f:{line}")));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([a-z=\\[\\]#; \n\r\t]|\\PC){0,200}") {
            for kind in [FileKind::Profile, FileKind::Variables] {
                let lines = text.replace("\r\n", "\n").split(['\n', '\r']).count();
                match parse("/f", &text, kind) {
                    Ok(sections) => {
                        let entries = sections.iter().flat_map(|section| &section.entries);
                        prop_assert!(entries.clone().all(|entry| (1..=lines).contains(&entry.location.line)));
                        prop_assert!(entries.clone().all(|entry| !entry.name.is_empty()));
                    }
                    Err(TunedError::Written { location, .. }) => prop_assert!((1..=lines).contains(&location.line)),
                    Err(other) => return Err(TestCaseError::fail(other.to_string())),
                }
            }
        }
    }
}
