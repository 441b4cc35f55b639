//! The source line of an address in a program whose symbols were removed: addr2line reads the twin that has them.

use object::{Object, ObjectSegment};
use std::path::Path;
use std::process::{Command, Stdio};

/// A line of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file's name, without its directory.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
}

/// Looks up offsets in one program.
#[derive(Clone, Debug, Default)]
pub struct Lookup {
    /// The name of the program that ran.
    module: String,
    /// First byte in the file, size, and address, of each part that is loaded.
    segments: Vec<(u64, u64, u64)>,
    symbols: std::path::PathBuf,
}

impl Lookup {
    /// Of a program that ran, and its twin with symbols. `None` where it cannot be read.
    pub fn of(program: &Path, with_symbols: &Path) -> Option<Lookup> {
        let bytes = std::fs::read(program).ok()?;
        let file = object::File::parse(bytes.as_slice()).ok()?;
        let segment = |segment: object::Segment<'_, '_>| {
            let (start, size) = segment.file_range();
            (start, size, segment.address())
        };
        Some(Lookup {
            module: program.file_name()?.to_string_lossy().into_owned(),
            segments: file.segments().map(segment).collect(),
            symbols: with_symbols.to_owned(),
        })
    }

    /// The lines of an offset in a module, with those of inlined functions; none for another module.
    pub fn lines(&self, module: &str, offset: u64) -> Vec<SourceLine> {
        if file_name(module) != self.module {
            return Vec::new();
        }
        // The instruction of a call, or the one after it, to which it returns.
        let near = |address: u64| [address, address.saturating_sub(1)];
        let addresses =
            self.addresses(offset).into_iter().flat_map(near).map(|address| format!("{address:#x}"));
        let output = Command::new("addr2line")
            .arg("-i")
            .arg("-e")
            .arg(&self.symbols)
            .args(addresses)
            .stdin(Stdio::null())
            .output();
        let output = output.map(|output| output.stdout).unwrap_or_default();
        String::from_utf8_lossy(&output).lines().filter_map(source_line).collect()
    }

    /// The addresses, as the linker gave them, that an offset may mean: a place in the file, or already such an address.
    fn addresses(&self, offset: u64) -> Vec<u64> {
        let in_file = self.segments.iter().filter_map(|(start, size, address)| {
            let at = offset.checked_sub(*start).filter(|at| at < size)?;
            address.checked_add(at)
        });
        in_file.filter(|address| *address != offset).chain([offset]).collect()
    }
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A line of addr2line: `/x/a.c:12` or `/x/a.c:12 (discriminator 3)`; `??:0` where it has none.
fn source_line(text: &str) -> Option<SourceLine> {
    let (file, line) = text.split(' ').next()?.rsplit_once(':')?;
    let line = line.parse().ok().filter(|line| *line > 0)?;
    Some(SourceLine { file: file_name(file).to_owned(), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_addr2line_are_read() {
        let at = |file: &str, line| Some(SourceLine { file: file.to_owned(), line });
        for (text, expected) in [
            ("/x/y/a.c:12", at("a.c", 12)),
            ("a.c:12 (discriminator 3)", at("a.c", 12)),
            ("??:0", None),
            ("??:?", None),
            ("/x/a.c:0", None),
            ("", None),
        ] {
            assert_eq!(source_line(text), expected, "{text}");
        }
    }

    #[test]
    fn an_offset_in_the_file_becomes_an_address() {
        let lookup = Lookup {
            module: "a".to_owned(),
            segments: vec![(0, 0x400, 0x40_0000), (0x1000, 0x500, 0x40_1000)],
            ..Lookup::default()
        };
        for (offset, addresses) in [
            (0x10, vec![0x40_0010, 0x10]),
            (0x1234, vec![0x40_1234, 0x1234]),
            (0x40_1234, vec![0x40_1234]),
            (u64::MAX, vec![u64::MAX]),
        ] {
            assert_eq!(lookup.addresses(offset), addresses, "{offset:#x}");
        }
        assert!(lookup.lines("/x/other", 0x10).is_empty());
    }

    #[test]
    fn a_file_that_is_no_program_has_no_lines() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "#!/bin/sh\n").expect("written");
        assert!(Lookup::of(file.path(), file.path()).is_none());
    }
}
