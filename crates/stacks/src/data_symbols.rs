//! The names of a program's variables, by address.

use crate::elf::ElfHeaders;
use crate::maps::{MapsLine, parse_maps};
use crate::plain_file;
use object::elf::{self, FileHeader64, STT_OBJECT};
use object::read::elf::{FileHeader, Sym};
use object::{Endianness, ReadCache};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use whylate_base::Tid;

/// Names that were looked up.
#[derive(Debug, Default)]
pub(crate) struct DataSymbols {
    known: HashMap<(Tid, u64), Option<String>>,
}

impl DataSymbols {
    /// `queue_lock`, `queue+0x10`, or `control+0x4060` where the file has no symbol there; `None` of memory that is of no file.
    pub(crate) fn name(&mut self, pid: Tid, address: u64) -> Option<String> {
        self.known.entry((pid, address)).or_insert_with(|| look_up(pid, address)).clone()
    }
}

fn look_up(pid: Tid, address: u64) -> Option<String> {
    let text = fs::read(format!("/proc/{pid}/maps")).ok()?;
    let lines: Vec<MapsLine> = parse_maps(&text).collect();
    let path = module_of(&lines, address)?;
    let root = format!("/proc/{pid}/root");
    let file = plain_file::open(&Path::new(&root).join(path.strip_prefix("/").ok()?)).ok()?;
    let cache = ReadCache::new(&file);
    let headers = ElfHeaders::read(&cache).ok()?;
    let mut code = lines.iter().filter(|line| line.is_executable && line.mapping.path == path);
    let bias = code.find_map(|line| {
        let mapping = &line.mapping;
        headers.bias(mapping.start, mapping.length, mapping.file_offset)
    });
    let offset = address.wrapping_sub(bias?);
    let name = path.file_name()?.to_string_lossy();
    Some(variable(&cache, offset).unwrap_or_else(|| format!("{name}+{offset:#x}")))
}

/// The file whose data an address is in: that of its mapping, or of the one before it, for variables that are zero at first
/// (`.bss`) lie behind the file's own pages.
fn module_of(lines: &[MapsLine], address: u64) -> Option<&Path> {
    let at = lines.iter().position(|line| line.mapping.start <= address && address < line.mapping.end())?;
    let is_of_file = |line: &&MapsLine| line.mapping.path.is_absolute();
    let line = lines.get(at)?;
    if is_of_file(&line) {
        return Some(&line.mapping.path);
    }
    let before = lines.get(at.checked_sub(1)?).filter(is_of_file)?;
    let is_behind = before.mapping.end() == line.mapping.start && before.is_writable;
    (is_behind && line.mapping.path.as_os_str().is_empty()).then_some(&before.mapping.path)
}

/// The variable at an address of the file, by its full symbol table, or by that of what it exports.
fn variable(data: &ReadCache<&fs::File>, address: u64) -> Option<String> {
    let header = FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, data).ok()?;
    [elf::SHT_SYMTAB, elf::SHT_DYNSYM].into_iter().find_map(|table| {
        let symbols = sections.symbols(endian, data, table).ok()?;
        let at = |symbol: &&elf::Sym64<Endianness>| {
            let (start, size) = (symbol.st_value(endian), symbol.st_size(endian));
            symbol.st_type() == STT_OBJECT && start <= address && address - start < size
        };
        let symbol = symbols.iter().find(at)?;
        let name = String::from_utf8_lossy(symbols.symbol_name(endian, symbol).ok()?).into_owned();
        Some(match address - symbol.st_value(endian) {
            0 => name,
            offset => format!("{name}+{offset:#x}"),
        })
    })
}
