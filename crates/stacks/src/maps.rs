//! What a process has mapped: `/proc/PID/maps`, `proc_pid_maps(5)`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A part of the memory of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Its first address.
    pub start: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The offset in the file of its first byte.
    pub file_offset: u64,
    /// The inode of the file; zero where it is unknown, or where there is no file.
    pub inode: u64,
    /// The path in the process's own root directory; a name in brackets such as `[vdso]`, or nothing for memory
    /// without a file. It may end with ` (deleted)`.
    pub path: PathBuf,
}

impl Mapping {
    /// The address after its last.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }
}

/// A line of the file: a mapping and what the process may do there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapsLine {
    /// Where and of which file.
    pub mapping: Mapping,
    /// Whether it is writable.
    pub is_writable: bool,
    /// Whether it may be executed.
    pub is_executable: bool,
    /// Whether writes to it are seen by other processes.
    pub is_shared: bool,
}

/// The mappings, in the order of the text. Lines that are none are skipped.
pub fn parse_maps(text: &[u8]) -> impl Iterator<Item = MapsLine> {
    text.split(|&byte| byte == b'\n').filter_map(maps_line)
}

/// The mappings that may be executed.
pub(crate) fn code_mappings(text: &[u8]) -> Vec<Mapping> {
    parse_maps(text).filter(|line| line.is_executable).map(|line| line.mapping).collect()
}

/// `560abd365000-560abd36a000 r-xp 00002000 fe:00 247026                     /usr/bin/cat`
fn maps_line(line: &[u8]) -> Option<MapsLine> {
    let mut rest = line;
    let mut word = || {
        let start = rest.iter().position(|&byte| byte != b' ')?;
        let from = rest.get(start..)?;
        let end = from.iter().position(|&byte| byte == b' ').unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        rest = after;
        str::from_utf8(word).ok()
    };
    let (start, end) = word()?.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let &[_, write, execute, share] = word()?.as_bytes() else { return None };
    let file_offset = u64::from_str_radix(word()?, 16).ok()?;
    word()?;
    let inode = word()?.parse().ok()?;
    let path = OsString::from_vec(unescape(rest.trim_ascii_start()));
    Some(MapsLine {
        mapping: Mapping { start, length: end.checked_sub(start)?, file_offset, inode, path: path.into() },
        is_writable: write == b'w',
        is_executable: execute == b'x',
        is_shared: share == b's',
    })
}

/// The kernel writes a line feed in a path as `\012` (`show_map_vma()`, `fs/proc/task_mmu.c`).
fn unescape(path: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&first, after)) = rest.split_first() {
        match after.strip_prefix(b"012") {
            Some(after) if first == b'\\' => {
                plain.push(b'\n');
                rest = after;
            }
            _ => {
                plain.push(first);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_read_with_its_file() {
        let text = b"560abd363000-560abd365000 r--p 00000000 fe:00 247026                     /usr/bin/cat\n\
            560abd365000-560abd36a000 r-xp 00002000 fe:00 247026                     /usr/bin/cat\n\
            7fa85d000000-7fa85d001000 rwxp 00000000 00:00 0 \n\
            7fa85d202000-7fa85d228000 r-xp 00001000 fe:00 9                          /tmp/a b\\012c (deleted)\n\
            7fa85d3f5000-7fa85d3f7000 r-xp 00000000 00:00 0                          [vdso]\n\
            ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n\
            7fa85d202000-7fa85d228000 r-xp\n\nnonsense\n";
        let mapping = |start, length, file_offset, inode, path: &str| Mapping {
            start,
            length,
            file_offset,
            inode,
            path: path.into(),
        };
        assert_eq!(
            code_mappings(text),
            [
                mapping(0x560a_bd36_5000, 0x5000, 0x2000, 247_026, "/usr/bin/cat"),
                mapping(0x7fa8_5d00_0000, 0x1000, 0, 0, ""),
                mapping(0x7fa8_5d20_2000, 0x26000, 0x1000, 9, "/tmp/a b\nc (deleted)"),
                mapping(0x7fa8_5d3f_5000, 0x2000, 0, 0, "[vdso]"),
                mapping(0xffff_ffff_ff60_0000, 0x1000, 0, 0, "[vsyscall]"),
            ]
        );
    }

    #[test]
    fn permissions_are_those_of_their_columns() {
        for (permissions, expected) in [
            ("rw-p", Some((true, false, false))),
            ("r-xp", Some((false, true, false))),
            ("rw-s", Some((true, false, true))),
            ("rwxs", Some((true, true, true))),
            ("---p", Some((false, false, false))),
            ("rwx", None),
        ] {
            let text = format!("1000-3000 {permissions} 00003000 08:01 7 /a\n");
            let found = parse_maps(text.as_bytes()).next();
            let found = found.map(|line| (line.is_writable, line.is_executable, line.is_shared));
            assert_eq!(found, expected, "{permissions}");
        }
    }

    #[test]
    fn this_process_has_its_program_and_the_vdso() {
        let mappings = code_mappings(&std::fs::read("/proc/self/maps").expect("readable"));
        let program = std::env::current_exe().expect("this program");
        assert!(mappings.iter().any(|mapping| mapping.path == program), "{mappings:?}");
    }
}
