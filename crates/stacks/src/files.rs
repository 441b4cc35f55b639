//! The files that recorded processes have code from, held open: a program may end, or be replaced, before its addresses
//! get their names.

use crate::image::{FileIdentity, Frames, Image};
use crate::kind;
use crate::maps::Mapping;
use crate::plain_file;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use whylate_base::Tid;
use whylate_events::{CodeModule, ModuleId, ModuleKind};

/// The module of kernel addresses.
pub(crate) const KERNEL: &str = "[kernel]";
const VDSO: &str = "[vdso]";

/// Files that are held open at once, of the 1,024 descriptors that a process usually has.
const MOST_OPEN: usize = 512;

/// Every file that code was mapped from, with what is known about it.
#[derive(Debug, Default)]
pub struct ModuleFiles {
    files: Vec<ModuleFile>,
    /// Numbers of files that are open.
    open: HashMap<FileIdentity, usize>,
    /// Numbers of all others.
    named: HashMap<String, usize>,
    /// The files that a stack has addresses in.
    used: Vec<usize>,
}

/// One file, or what takes the place of one.
#[derive(Debug)]
pub(crate) struct ModuleFile {
    pub(crate) module: CodeModule,
    pub(crate) code: Code,
    id: Option<ModuleId>,
    frames: OnceCell<Frames>,
}

/// Where a module's code is from.
#[derive(Debug)]
pub(crate) enum Code {
    Elf(Box<Image>),
    /// Made at run time, by this process; the file is its perf map, where it has one.
    Generated(Tid, Option<File>),
    Kernel,
    /// Why the file could not be read.
    Unreadable(String),
}

impl ModuleFiles {
    /// The modules with an address in some stack, by their [`ModuleId`].
    pub fn modules(&self) -> Vec<CodeModule> {
        self.used.iter().filter_map(|&file| self.files.get(file)).map(|file| file.module.clone()).collect()
    }

    /// The file of a module of [`ModuleFiles::modules`].
    pub(crate) fn of(&self, module: &CodeModule) -> Option<&ModuleFile> {
        self.used.iter().filter_map(|&file| self.files.get(file)).find(|file| file.module == *module)
    }

    /// The number of the file that `pid` mapped, and the bias of its addresses.
    pub(crate) fn open(&mut self, pid: Tid, mapping: &Mapping) -> (usize, u64) {
        let unchanged = mapping.start.wrapping_sub(mapping.file_offset);
        let number = match source(&mapping.path) {
            Source::Memory => return (self.generated(pid), 0),
            Source::Vdso => self.named(VDSO, |path| match Image::of_vdso() {
                Ok(image) => ModuleFile::new(elf_module(path, &image), Code::Elf(Box::new(image))),
                Err(why) => unreadable(path, why),
            }),
            Source::File(path) => self.file(pid, mapping, path),
        };
        let bias = match &self.files[number].code {
            Code::Elf(image) => image.headers.bias(mapping.start, mapping.length, mapping.file_offset),
            _ => None,
        };
        (number, bias.unwrap_or(unchanged))
    }

    fn file(&mut self, pid: Tid, mapping: &Mapping, path: &Path) -> usize {
        let opened = open_mapped(pid, mapping, path).and_then(|file| Ok((FileIdentity::of(&file)?, file)));
        let (identity, file) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let path = path.to_string_lossy().into_owned();
                return self.named(&path, |path| unreadable(path, error.to_string()));
            }
        };
        if let Some(&number) = self.open.get(&identity) {
            return number;
        }
        let shown = path.to_string_lossy();
        let number = match Image::of_file(file) {
            Ok(_) if self.is_full() => self.push(unreadable(&shown, full())),
            Ok(image) => self.push(ModuleFile::new(elf_module(&shown, &image), Code::Elf(Box::new(image)))),
            Err(why) => self.push(unreadable(&shown, why)),
        };
        self.open.insert(identity, number);
        number
    }

    /// Whether no further file is held open.
    pub(crate) fn is_full(&self) -> bool {
        self.open.len() >= MOST_OPEN
    }

    /// Closes the files that no stack has an address in and no process has mapped, by their numbers: programs that ended
    /// without a sample.
    pub(crate) fn close_all_but(&mut self, mapped: &HashSet<usize>) {
        let ModuleFiles { files, open, .. } = self;
        open.retain(|_, number| {
            let Some(file) = files.get_mut(*number) else { return false };
            let is_needed = file.id.is_some() || mapped.contains(number);
            if !is_needed {
                file.code = Code::Unreadable(full());
                file.frames = OnceCell::new();
            }
            is_needed
        });
    }

    /// The code that a process made at run time.
    pub(crate) fn generated(&mut self, pid: Tid) -> usize {
        let number = self.named(&format!("[jit {pid}]"), |path| {
            let module = CodeModule { path: path.to_owned(), build_id: None, kind: ModuleKind::Jit };
            ModuleFile::new(module, Code::Generated(pid, None))
        });
        if let Code::Generated(_, map @ None) = &mut self.files[number].code {
            *map = perf_map(pid);
        }
        number
    }

    /// The kernel.
    pub(crate) fn kernel(&mut self) -> usize {
        self.named(KERNEL, |path| {
            let module = CodeModule { path: path.to_owned(), build_id: None, kind: ModuleKind::Kernel };
            ModuleFile::new(module, Code::Kernel)
        })
    }

    /// The file by its number.
    pub(crate) fn get(&self, number: usize) -> Option<&ModuleFile> {
        self.files.get(number)
    }

    /// The file's module, which is in [`ModuleFiles::modules`] from now on.
    pub(crate) fn id(&mut self, number: usize) -> Option<ModuleId> {
        let file = self.files.get_mut(number)?;
        if let Some(id) = file.id {
            return Some(id);
        }
        // The process may have begun its perf map only after it had mapped the memory for its code.
        if let Code::Generated(pid, map @ None) = &mut file.code {
            *map = perf_map(*pid);
        }
        let id = ModuleId(self.used.len() as u32);
        file.id = Some(id);
        self.used.push(number);
        Some(id)
    }

    fn named(&mut self, name: &str, make: impl FnOnce(&str) -> ModuleFile) -> usize {
        if let Some(&number) = self.named.get(name) {
            return number;
        }
        let number = self.push(make(name));
        self.named.insert(name.to_owned(), number);
        number
    }

    fn push(&mut self, file: ModuleFile) -> usize {
        self.files.push(file);
        self.files.len() - 1
    }
}

impl ModuleFile {
    fn new(module: CodeModule, code: Code) -> ModuleFile {
        ModuleFile { module, code, id: None, frames: OnceCell::new() }
    }

    /// The call frame information, read when it is first needed.
    pub(crate) fn frames(&self) -> Option<&Frames> {
        let Code::Elf(image) = &self.code else { return None };
        Some(self.frames.get_or_init(|| image.frames()))
    }
}

/// Why a file beyond [`MOST_OPEN`] is not read.
fn full() -> String {
    format!("whylate holds {MOST_OPEN} other files with code open; record fewer programs")
}

fn elf_module(path: &str, image: &Image) -> CodeModule {
    let kind = match image.file() {
        Some(_) => kind::of_file(Path::new(path), image.headers.executable),
        None => ModuleKind::System,
    };
    CodeModule { path: path.to_owned(), build_id: image.headers.build_id.clone(), kind }
}

fn unreadable(path: &str, why: String) -> ModuleFile {
    let module =
        CodeModule { path: path.to_owned(), build_id: None, kind: kind::of_file(Path::new(path), false) };
    ModuleFile::new(module, Code::Unreadable(why))
}

/// What is mapped, by the name that the kernel shows.
enum Source<'p> {
    File(&'p Path),
    /// Memory without a file that has a name: the program made the code in it.
    Memory,
    Vdso,
}

/// Names of memory without a file: empty and `[...]` in `/proc/PID/maps`, `//anon` in perf records
/// (`perf_event_mmap_event()`, `kernel/events/core.c`); and files that only hold memory.
fn source(path: &Path) -> Source<'_> {
    const MEMORY: [&[u8]; 7] =
        [b"[", b"//anon", b"/memfd:", b"/dev/zero", b"/dev/shm/", b"/SYSV", b"/anon_hugepage"];
    let bytes = path.as_os_str().as_bytes();
    match bytes.strip_suffix(b" (deleted)").unwrap_or(bytes) {
        b"[vdso]" => Source::Vdso,
        b"" => Source::Memory,
        bytes if MEMORY.iter().any(|name| bytes.starts_with(name)) => Source::Memory,
        bytes => Source::File(Path::new(std::ffi::OsStr::from_bytes(bytes))),
    }
}

/// Opens the file that is mapped: by the mapping itself where that is permitted, which also finds one that was deleted;
/// else by its path in the process's root directory.
fn open_mapped(pid: Tid, mapping: &Mapping, path: &Path) -> io::Result<File> {
    let proc = PathBuf::from(format!("/proc/{pid}"));
    let by_range = proc.join(format!("map_files/{:x}-{:x}", mapping.start, mapping.end()));
    if let Ok(file) = plain_file::open(&by_range) {
        return Ok(file);
    }
    let in_root = proc.join("root").join(path.strip_prefix("/").unwrap_or(path));
    // The process has ended, or is another user's: the path here may be the same file.
    let mut found = plain_file::open(&in_root).or_else(|_| plain_file::open(path));
    let exe = proc.join("exe");
    if fs::read_link(&exe).is_ok_and(|target| target == mapping.path || target == path) {
        found = plain_file::open(&exe).or(found);
    }
    let file = found?;
    match file.metadata()?.ino() {
        inode if mapping.inode == 0 || mapping.inode == inode => Ok(file),
        _ => Err(io::Error::other("the file was replaced by another after it was mapped")),
    }
}

/// The file with the names of code that a process makes: `/tmp/perf-PID.map`, with the id that the process has in its
/// own PID namespace (`tools/perf/Documentation/jit-interface.txt`).
fn perf_map(pid: Tid) -> Option<File> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("NStgid:")).unwrap_or_default();
    let own = ids.split_whitespace().next_back().and_then(|id| id.parse().ok()).unwrap_or(pid.0);
    plain_file::open(Path::new(&format!("/proc/{pid}/root/tmp/perf-{own}.map")))
        .or_else(|_| plain_file::open(Path::new(&format!("/tmp/perf-{pid}.map"))))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program that a mapping of `path` is.
    fn open(files: &mut ModuleFiles, path: &Path) -> usize {
        let mapping = Mapping { start: 0x1000, length: 0x1000, path: path.to_owned(), ..Mapping::default() };
        files.open(Tid(i32::MAX), &mapping).0
    }

    fn is_open(files: &ModuleFiles, number: usize) -> bool {
        matches!(files.files[number].code, Code::Elf(_))
    }

    #[test]
    fn files_that_no_stack_and_no_process_needs_make_room() {
        let directory = tempfile::tempdir().expect("a directory");
        // The header of this program is an ELF file of its own, without code.
        let header = fs::read("/proc/self/exe").expect("this program")[..64].to_vec();
        let program = |number: usize| {
            let path = directory.path().join(number.to_string());
            let mut header = header.clone();
            // No segments and no sections: `e_phnum`, `e_shoff` and `e_shnum`.
            header[0x28..0x30].fill(0);
            header[0x38..0x3a].fill(0);
            header[0x3c..0x40].fill(0);
            fs::write(&path, header).expect("writable");
            path
        };
        let mut files = ModuleFiles::default();
        let numbers: Vec<usize> = (0..MOST_OPEN).map(|number| open(&mut files, &program(number))).collect();
        assert!(numbers.iter().all(|&number| is_open(&files, number)) && files.is_full());
        let beyond = open(&mut files, &program(MOST_OPEN));
        assert!(!is_open(&files, beyond), "no room");
        let (used, mapped, neither) = (numbers[0], numbers[1], numbers[2]);
        files.id(used);
        files.close_all_but(&HashSet::from([mapped]));
        assert_eq!([used, mapped, neither].map(|number| is_open(&files, number)), [true, true, false]);
        let again = open(&mut files, &directory.path().join("2"));
        assert!(is_open(&files, again) && again != neither);
        assert_eq!(open(&mut files, &directory.path().join("0")), used);
    }
}
