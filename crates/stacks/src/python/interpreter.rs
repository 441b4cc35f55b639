//! The interpreters that are known: CPython 3.11 to 3.13.

use crate::files::{Code, ModuleFile};
use object::elf::{self, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader as _, Sym};
use object::{Endianness, ReadCache, ReadRef};
use std::fs::File;
use std::ops::Range;

/// What is to be known of an interpreter's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interpreter {
    /// The addresses of its loop, `_PyEval_EvalFrameDefault`, as the file has them.
    pub(super) evaluates: Range<u64>,
    /// `PyCode_Type`, likewise.
    pub(super) code_type: u64,
    pub(super) layout: CodeLayout,
}

/// Where a code object has its members, in bytes (`Include/cpython/code.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeLayout {
    /// `co_code_adaptive`
    pub(super) instructions: u64,
    /// `co_firstlineno`
    pub(super) first_line: u64,
    /// `co_filename`
    pub(super) file_name: u64,
    /// `co_qualname`
    pub(super) qualified_name: u64,
    /// `co_linetable`
    pub(super) line_table: u64,
    /// Where the characters of an ASCII `str` begin (`PyASCIIObject`, `Include/cpython/unicodeobject.h`).
    pub(super) text: u64,
}

impl CodeLayout {
    /// By `Py_Version`, such as 0x030b02f0 of 3.11.2. Another one, or a build without the global lock, which has another head of
    /// each object, is not known.
    fn of_version(version: u64) -> Option<CodeLayout> {
        let (instructions, first_line, text) = match version >> 16 {
            0x030b => (184, 72, 48),
            0x030c => (192, 68, 40),
            0x030d => (200, 68, 40),
            _ => return None,
        };
        let (file_name, qualified_name, line_table) = (112, 128, 136);
        Some(CodeLayout { instructions, first_line, file_name, qualified_name, line_table, text })
    }
}

impl Interpreter {
    /// `None` of a file that is no interpreter of a known version.
    pub(super) fn of(file: &ModuleFile) -> Option<Interpreter> {
        // The registers that samples have are those of this architecture.
        if whylate_sys::SAVED_REGISTERS.is_empty() {
            return None;
        }
        let Code::Elf(image) = &file.code else { return None };
        Interpreter::of_file(image.file()?)
    }

    fn of_file(file: &File) -> Option<Interpreter> {
        let data = &ReadCache::new(file);
        let header = FileHeader64::<Endianness>::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, data).ok()?;
        let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM).ok()?;
        let find = |name: &[u8]| {
            let is_it = |symbol: &&elf::Sym64<Endianness>| {
                symbol.st_value(endian) != 0 && symbols.symbol_name(endian, symbol) == Ok(name)
            };
            let symbol = symbols.iter().find(is_it)?;
            Some((symbol.st_value(endian), symbol.st_size(endian)))
        };
        let (start, size) = find(b"_PyEval_EvalFrameDefault")?;
        let (version, _) = find(b"Py_Version")?;
        let (code_type, _) = find(b"PyCode_Type")?;
        let segments = header.program_headers(endian, data).ok()?;
        let offset = segments.iter().find_map(|segment| {
            let within = version.checked_sub(segment.p_vaddr(endian))?;
            let is_here = segment.p_type(endian) == PT_LOAD && within < segment.p_filesz(endian);
            is_here.then(|| segment.p_offset(endian).checked_add(within)).flatten()
        })?;
        let version = data.read_bytes_at(offset, 8).ok()?;
        let layout = CodeLayout::of_version(u64::from_le_bytes(version.try_into().ok()?))?;
        Some(Interpreter { evaluates: start..start.checked_add(size)?, code_type, layout })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_their_own_layout() {
        let instructions = |version| CodeLayout::of_version(version).map(|layout| layout.instructions);
        for (version, expected) in [
            (0x030a_0df0, None),
            (0x030b_02f0, Some(184)),
            (0x030c_01f0, Some(192)),
            (0x030d_00f0, Some(200)),
            (0x030e_00f0, None),
        ] {
            assert_eq!(instructions(version), expected, "{version:#x}");
        }
    }

    #[test]
    fn another_program_is_no_interpreter() {
        let own = File::open("/proc/self/exe").expect("this program");
        assert_eq!(Interpreter::of_file(&own), None);
    }
}
