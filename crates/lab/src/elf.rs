//! The parts of ELF with the loader of a program, and the dependencies of a kernel module.
//!
//! 64-bit little-endian files only, which is what x86-64 and arm64 have: elf(5).

use crate::Arch;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const PT_NOTE: u32 = 4;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;

/// The libraries that a file needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needed<'a> {
    pub(crate) libraries: Vec<&'a str>,
    pub(crate) directories: Vec<&'a str>,
}

/// A look at an ELF file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
}

impl<'a> Elf<'a> {
    /// None when the bytes are no 64-bit little-endian ELF file.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Elf<'a>> {
        // EI_MAG, EI_CLASS = ELFCLASS64, EI_DATA = ELFDATA2LSB
        (bytes.starts_with(b"\x7fELF\x02\x01") && bytes.len() >= 64).then_some(Elf { bytes })
    }

    /// True for code of that architecture.
    pub(crate) fn is_for(&self, arch: Arch) -> bool {
        self.u16(18) == Some(arch.elf_machine())
    }

    /// What a dynamic file asks its loader for: the names of libraries (`DT_NEEDED`), and the directories in which it
    /// looks for them first (`DT_RUNPATH`, `DT_RPATH`).
    pub(crate) fn needed(&self) -> Needed<'a> {
        let mut needed = Needed::default();
        let Some(dynamic) = self.segment(PT_DYNAMIC) else { return needed };
        let entries =
            || dynamic.chunks_exact(16).filter_map(|entry| Some((u64_at(entry, 0)?, u64_at(entry, 8)?)));
        let strings = entries().find(|(tag, _)| *tag == DT_STRTAB).and_then(|(_, at)| self.at_address(at));
        let text = |start: u64| {
            let text = strings?.get(usize::try_from(start).ok()?..)?.split(|byte| *byte == 0).next()?;
            std::str::from_utf8(text).ok()
        };
        for (tag, value) in entries().take_while(|(tag, _)| *tag != 0) {
            match tag {
                DT_NEEDED => needed.libraries.extend(text(value)),
                DT_RPATH | DT_RUNPATH => {
                    needed.directories.extend(text(value).into_iter().flat_map(|list| list.split(':')))
                }
                _ => {}
            }
        }
        needed
    }

    /// The loader a dynamic program asks for (`PT_INTERP`); None for a static one.
    pub(crate) fn interpreter(&self) -> Option<&'a str> {
        let path = self.segment(PT_INTERP)?;
        std::str::from_utf8(path.strip_suffix(b"\0").unwrap_or(path)).ok()
    }

    /// True when a note of that owner and type is there.
    pub(crate) fn has_note(&self, owner: &str, kind: u32) -> bool {
        let headers = self.table(32, 54, 56).into_iter().flatten();
        let notes = headers.filter(|header| u32_at(header, 0) == Some(PT_NOTE));
        let segments = notes.filter_map(|header| self.range(u64_at(header, 8)?, u64_at(header, 32)?));
        segments.into_iter().any(|segment| Notes(segment).any(|note| note == (owner.as_bytes(), kind)))
    }

    /// The values that a kernel module gives for `key` in its `.modinfo` section.
    pub(crate) fn modinfo(&self, key: &str) -> Vec<&'a str> {
        let info = self.section(".modinfo").unwrap_or_default();
        let entries = info.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
        entries.filter_map(|entry| entry.strip_prefix(key)?.strip_prefix('=')).collect()
    }

    /// The first segment of a type.
    fn segment(&self, kind: u32) -> Option<&'a [u8]> {
        let header = self.table(32, 54, 56)?.find(|header| u32_at(header, 0) == Some(kind))?;
        self.range(u64_at(header, 8)?, u64_at(header, 32)?)
    }

    /// What is loaded to an address, up to the end of the file.
    fn at_address(&self, address: u64) -> Option<&'a [u8]> {
        let inside = |header: &[u8]| {
            let start = u64_at(header, 16)?;
            let offset = address
                .checked_sub(start)
                .filter(|offset| u64_at(header, 32).is_some_and(|size| *offset < size))?;
            (u32_at(header, 0)? == PT_LOAD).then_some(u64_at(header, 8)?.checked_add(offset)?)
        };
        let at = self.table(32, 54, 56)?.find_map(inside)?;
        self.bytes.get(usize::try_from(at).ok()?..)
    }

    fn section(&self, name: &str) -> Option<&'a [u8]> {
        let names = self.table(40, 58, 60)?.nth(usize::from(self.u16(62)?))?;
        let names = self.range(u64_at(names, 24)?, u64_at(names, 32)?)?;
        let is_it = |header: &&[u8]| {
            let start = u32_at(header, 0).and_then(|start| names.get(start as usize..));
            start.and_then(|text| text.split(|byte| *byte == 0).next()) == Some(name.as_bytes())
        };
        let header = self.table(40, 58, 60)?.find(is_it)?;
        self.range(u64_at(header, 24)?, u64_at(header, 32)?)
    }

    /// The entries of a header table: its offset, entry size and count are at these places.
    fn table(
        &self,
        offset: usize,
        size: usize,
        count: usize,
    ) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
        let (size, count) = (usize::from(self.u16(size)?), usize::from(self.u16(count)?));
        let start = usize::try_from(u64_at(self.bytes, offset)?).ok()?;
        Some(self.bytes.get(start..)?.chunks_exact(size.max(1)).take(count))
    }

    fn range(&self, start: u64, length: u64) -> Option<&'a [u8]> {
        let end = usize::try_from(start.checked_add(length)?).ok()?;
        self.bytes.get(usize::try_from(start).ok()?..end)
    }

    fn u16(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes.get(at..at + 2)?.try_into().ok()?))
    }
}

/// Owner and type of each note of a segment.
struct Notes<'a>(&'a [u8]);

impl<'a> Iterator for Notes<'a> {
    type Item = (&'a [u8], u32);

    fn next(&mut self) -> Option<Self::Item> {
        let (owner, content) = (u32_at(self.0, 0)? as usize, u32_at(self.0, 4)? as usize);
        let kind = u32_at(self.0, 8)?;
        let name = self.0.get(12..12usize.checked_add(owner)?)?;
        let end = 12usize.checked_add(owner.checked_next_multiple_of(4)?)?;
        let end = end.checked_add(content.checked_next_multiple_of(4)?)?;
        self.0 = self.0.get(end..).unwrap_or_default();
        Some((name.strip_suffix(b"\0").unwrap_or(name), kind))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file with one program header and three sections: the null one, names, `.modinfo`.
    pub(crate) fn file(interpreter: Option<&str>, modinfo: &[&str]) -> Vec<u8> {
        let interpreter = interpreter.map(|path| format!("{path}\0")).unwrap_or_default();
        let names = b"\0.shstrtab\0.modinfo\0";
        let info: String = modinfo.iter().map(|entry| format!("{entry}\0")).collect();
        let (programs, sections) = (64, 64 + 56);
        let contents = sections + 3 * 64;
        let mut bytes = b"\x7fELF\x02\x01".to_vec();
        bytes.resize(contents, 0);
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(18, &Arch::X86_64.elf_machine().to_le_bytes());
        put(32, &(programs as u64).to_le_bytes());
        put(40, &(sections as u64).to_le_bytes());
        for (at, value) in [(54, 56), (56, 1), (58, 64), (60, 3), (62, 1u16)] {
            put(at, &value.to_le_bytes());
        }
        let kind = if interpreter.is_empty() { 1 } else { PT_INTERP };
        put(programs, &kind.to_le_bytes());
        put(programs + 8, &(contents as u64).to_le_bytes());
        put(programs + 32, &(interpreter.len() as u64).to_le_bytes());
        let places =
            [(1u32, names.len(), interpreter.len()), (11, info.len(), interpreter.len() + names.len())];
        for (index, (name, length, offset)) in places.into_iter().enumerate() {
            let header = sections + 64 * (index + 1);
            put(header, &name.to_le_bytes());
            put(header + 24, &((contents + offset) as u64).to_le_bytes());
            put(header + 32, &(length as u64).to_le_bytes());
        }
        bytes.extend_from_slice(interpreter.as_bytes());
        bytes.extend_from_slice(names);
        bytes.extend_from_slice(info.as_bytes());
        bytes
    }

    /// A file whose one program header is a segment of two notes, the second of them this.
    pub(crate) fn file_with_note(owner: &str, kind: u32) -> Vec<u8> {
        let mut notes = vec![4, 0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0, b'A', b'B', b'C', 0, 1, 2, 3, 0];
        notes.extend((owner.len() as u32 + 1).to_le_bytes());
        notes.extend(0u32.to_le_bytes());
        notes.extend(kind.to_le_bytes());
        notes.extend(owner.as_bytes());
        notes.push(0);
        let mut bytes = file(None, &[]);
        bytes[64..68].copy_from_slice(&PT_NOTE.to_le_bytes());
        let (start, length) = (bytes.len() as u64, notes.len() as u64);
        bytes[72..80].copy_from_slice(&start.to_le_bytes());
        bytes[96..104].copy_from_slice(&length.to_le_bytes());
        bytes.extend(notes);
        bytes
    }

    #[test]
    fn notes_are_found() {
        let bytes = file_with_note("Xen", 18);
        let elf = Elf::new(&bytes).expect("ELF");
        assert!(elf.has_note("Xen", 18) && elf.has_note("ABC", 9));
        assert!(!elf.has_note("Xen", 9) && !elf.has_note("Xe", 18));
    }

    #[test]
    fn loaders_and_module_information_are_found() {
        let program = file(Some("/lib64/ld.so"), &[]);
        let elf = Elf::new(&program).expect("ELF");
        assert_eq!((elf.is_for(Arch::X86_64), elf.interpreter()), (true, Some("/lib64/ld.so")));
        assert_eq!(elf.modinfo("depends"), Vec::<&str>::new());
        let module = file(None, &["license=GPL", "depends=virtio,virtio_ring", "depends_not=x"]);
        let elf = Elf::new(&module).expect("ELF");
        assert_eq!((elf.interpreter(), elf.modinfo("depends")), (None, vec!["virtio,virtio_ring"]));
    }

    #[test]
    fn this_program_is_read() {
        let own = std::fs::read(std::env::current_exe().expect("path")).expect("own program");
        let elf = Elf::new(&own).expect("ELF");
        if let Some(path) = elf.interpreter() {
            assert!(std::path::Path::new(path).exists(), "{path}");
        }
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert!(elf.is_for(Arch::native()));
        }
        if elf.interpreter().is_some() {
            let libraries = elf.needed().libraries;
            assert!(libraries.iter().any(|name| name.starts_with("libc.")), "{libraries:?}");
        }
    }

    proptest! {
        #[test]
        fn damage_is_survived(at in 0usize..400, byte: u8, cut in 0usize..500) {
            let mut bytes = file(Some("/lib64/ld.so"), &["depends=a"]);
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            bytes.truncate(cut);
            if let Some(elf) = Elf::new(&bytes) {
                let _ = (elf.interpreter(), elf.modinfo("depends"), elf.needed(), elf.has_note("Xen", 18));
            }
        }
    }
}
