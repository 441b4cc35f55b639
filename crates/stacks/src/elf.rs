//! What unwinding and naming need of an ELF file: where its code is, its call frame information, its identity.
//!
//! Sources: `elf(5)`; the "Linux Standard Base Core Specification", chapter 10, for `.eh_frame`; the manual of GDB,
//! "Debugging Information in Separate Files", for `.gnu_debuglink`.

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{
    Dyn as _, FileHeader, NoteIterator, ProgramHeader as _, SectionHeader as _, SectionTable,
};
use object::{Endianness, FileKind, ReadRef};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Headers and notes of an ELF file; none of its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ElfHeaders {
    /// The GNU build id in hexadecimal digits.
    pub(crate) build_id: Option<String>,
    /// A program rather than a library.
    pub(crate) executable: bool,
    /// The lowest address of any segment.
    pub(crate) base: u64,
    /// The segments of code.
    pub(crate) code: Vec<Segment>,
    /// Whether it has debug information itself.
    pub(crate) debug_info: bool,
    /// Whether it has the full symbol table, which `strip` removes.
    pub(crate) symbols: bool,
    /// The name and the checksum of its separate debug file.
    pub(crate) debug_link: Option<(OsString, u32)>,
    /// The compressed symbol table of a stripped program.
    pub(crate) mini_debug_info: Option<Section>,
    /// The call frame information.
    pub(crate) frames: FrameSections,
}

/// Sections that unwinding reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameSections {
    pub(crate) eh_frame: Option<Section>,
    pub(crate) eh_frame_hdr: Option<Section>,
    pub(crate) debug_frame: Option<Section>,
    pub(crate) text: Option<Section>,
    pub(crate) got: Option<Section>,
}

/// Where a section is, in memory and in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// A part of the file that is mapped to be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl ElfHeaders {
    /// Reads the headers.
    ///
    /// # Errors
    /// Why `data` is no ELF file.
    pub(crate) fn read<'data>(data: impl ReadRef<'data>) -> Result<ElfHeaders, object::Error> {
        match FileKind::parse(data)? {
            FileKind::Elf32 => headers::<FileHeader32<Endianness>, _>(data),
            _ => headers::<FileHeader64<Endianness>, _>(data),
        }
    }

    /// What is to be subtracted from an address in memory for the file's own address, where `file_offset` is mapped at
    /// `start`; `None` where no code is there in the file. It wraps: a file may be mapped below its own addresses.
    ///
    /// A mapping begins at a page, and the segment in it may begin later.
    pub(crate) fn bias(&self, start: u64, length: u64, file_offset: u64) -> Option<u64> {
        let end = file_offset.saturating_add(length);
        let overlaps = |segment: &&Segment| {
            segment.offset < end && file_offset < segment.offset.saturating_add(segment.size)
        };
        let segment = self.code.iter().find(overlaps)?;
        let address = segment.address.wrapping_sub(segment.offset).wrapping_add(file_offset);
        Some(start.wrapping_sub(address))
    }
}

fn headers<'data, Elf, R>(data: R) -> Result<ElfHeaders, object::Error>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    // Some tools remove them; the program runs without.
    let sections = header.sections(endian, data).unwrap_or_default();
    let loaded = || segments.iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD);
    let code = loaded().filter(|segment| segment.p_flags(endian).contains(elf::PF_X));
    let code = code.map(|segment| Segment {
        address: segment.p_vaddr(endian).into(),
        offset: segment.p_offset(endian).into(),
        size: segment.p_filesz(endian).into(),
    });
    let pie = segments
        .iter()
        .filter_map(|segment| segment.dynamic(endian, data).ok().flatten())
        .flatten()
        .any(|entry| entry.tag(endian) == elf::DT_FLAGS_1 && entry.val(endian) & DF_1_PIE != 0);
    let names = Sections { endian, data, table: &sections };
    let ids = sections.iter().filter_map(|section| section.notes(endian, data).ok().flatten());
    let ids = ids.chain(segments.iter().filter_map(|segment| segment.notes(endian, data).ok().flatten()));
    Ok(ElfHeaders {
        build_id: ids.filter_map(|notes| build_id(endian, notes)).next(),
        executable: pie || header.e_type(endian) == elf::ET_EXEC,
        base: loaded().map(|segment| segment.p_vaddr(endian).into()).min().unwrap_or(0),
        code: code.collect(),
        debug_info: names.filled(b".debug_info").is_some() || names.filled(b".zdebug_info").is_some(),
        symbols: names.filled(b".symtab").is_some(),
        debug_link: names.debug_link(),
        mini_debug_info: names.plain(b".gnu_debugdata"),
        frames: FrameSections {
            eh_frame: names.plain(b".eh_frame"),
            eh_frame_hdr: names.plain(b".eh_frame_hdr"),
            debug_frame: names.plain(b".debug_frame"),
            text: names.plain(b".text"),
            got: names.plain(b".got"),
        },
    })
}

/// `DF_1_PIE` of `DT_FLAGS_1`: the file was linked as a program (`include/elf/common.h` of binutils).
const DF_1_PIE: u64 = 0x0800_0000;

fn build_id<Elf: FileHeader<Endian = Endianness>>(
    endian: Endianness,
    mut notes: NoteIterator<'_, Elf>,
) -> Option<String> {
    while let Ok(Some(note)) = notes.next() {
        let is_id = note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID;
        if is_id && !note.desc().is_empty() {
            return Some(note.desc().iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    None
}

/// The sections by their names.
struct Sections<'t, 'data, Elf: FileHeader, R: ReadRef<'data>> {
    endian: Elf::Endian,
    data: R,
    table: &'t SectionTable<'data, Elf, R>,
}

impl<'data, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'data>> Sections<'_, 'data, Elf, R> {
    /// The section, where the file has its content: a separate debug file has only the headers of code.
    fn filled(&self, name: &[u8]) -> Option<&'data Elf::SectionHeader> {
        let (_, section) = self.table.section_by_name(self.endian, name)?;
        let size: u64 = section.sh_size(self.endian).into();
        (section.sh_type(self.endian) != elf::SHT_NOBITS && size > 0).then_some(section)
    }

    /// A section that is not compressed.
    fn plain(&self, name: &[u8]) -> Option<Section> {
        let section = self.filled(name)?;
        let compressed = section.sh_flags(self.endian).contains(elf::SHF_COMPRESSED);
        (!compressed).then(|| Section {
            address: section.sh_addr(self.endian).into(),
            offset: section.sh_offset(self.endian).into(),
            size: section.sh_size(self.endian).into(),
        })
    }

    fn debug_link(&self) -> Option<(OsString, u32)> {
        let data = self.filled(b".gnu_debuglink")?.data(self.endian, self.data).ok()?;
        let length = data.iter().position(|&byte| byte == 0)?;
        let name = data.get(..length).filter(|name| !name.is_empty() && !name.contains(&b'/'))?;
        let sum: [u8; 4] = data.get((length + 1).next_multiple_of(4)..)?.get(..4)?.try_into().ok()?;
        let sum = match self.endian {
            Endianness::Little => u32::from_le_bytes(sum),
            Endianness::Big => u32::from_be_bytes(sum),
        };
        Some((OsString::from_vec(name.to_vec()), sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn this_program() -> Vec<u8> {
        fs::read("/proc/self/exe").expect("this program")
    }

    #[test]
    fn this_program_is_an_executable_with_frames_symbols_and_lines() {
        let bytes = this_program();
        let headers = ElfHeaders::read(bytes.as_slice()).expect("an ELF file");
        assert!(headers.executable && headers.symbols && headers.debug_info, "{headers:?}");
        assert!(headers.frames.eh_frame.is_some() && headers.frames.eh_frame_hdr.is_some(), "{headers:?}");
        assert!(!headers.code.is_empty(), "{headers:?}");
        assert!(ElfHeaders::read(&b"#!/bin/sh\n"[..]).is_err());
    }

    #[test]
    fn an_address_in_memory_becomes_the_files_own() {
        let code = vec![
            Segment { address: 0x40_1000, offset: 0x1000, size: 0x2345 },
            Segment { address: 0x40_5420, offset: 0x4420, size: 0x100 },
        ];
        let headers = ElfHeaders { code, ..ElfHeaders::default() };
        // Mapped where it is linked to, and elsewhere.
        assert_eq!(headers.bias(0x40_1000, 0x3000, 0x1000), Some(0));
        assert_eq!(headers.bias(0x7f00_0000_1000, 0x3000, 0x1000), Some(0x7f00_0000_1000 - 0x40_1000));
        // From the middle of a segment, and from the page in which one begins.
        assert_eq!(headers.bias(0x40_2000, 0x1000, 0x2000), Some(0));
        assert_eq!(headers.bias(0x40_5000, 0x1000, 0x4000), Some(0));
        // Below its own addresses.
        assert_eq!(headers.bias(0x1000, 0x1000, 0x1000), Some(0x1000u64.wrapping_sub(0x40_1000)));
        assert_eq!(headers.bias(0x1000, 0x1000, 0x9000), None);
    }

    proptest! {
        #[test]
        fn damaged_headers_are_survived(damage in prop::collection::vec((0usize..4096, any::<u8>()), 1..40), keep in 0usize..8192) {
            let mut bytes = this_program();
            for (at, byte) in damage {
                bytes[at] = byte;
            }
            let end = bytes.len();
            let _ = ElfHeaders::read(bytes.as_slice());
            let _ = ElfHeaders::read(&bytes[..keep.min(end)]);
        }
    }
}
