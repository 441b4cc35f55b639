//! From registers and a copied stack to addresses, and from an address to the file that it is in.

use crate::files::ModuleFiles;
use crate::frame::UnwoundFrame;
use crate::maps::{Mapping, code_mappings};
use crate::native::{self, Cache, FrameTables};
use crate::sample::{UserRegisters, UserStack};
use crate::space::{Region, Space};
use std::collections::HashMap;
use std::fs;
use std::io;
use whylate_base::Tid;
use whylate_events::ModuleId;

/// Frames of a stack; deeper ones are left out.
pub const MOST_FRAMES: usize = 128;

/// Processes that are known at once. Their ends are recorded, but a record may be lost.
const MOST_PROCESSES: usize = 1 << 15;

/// The legacy vsyscall page, the only user code in the upper half of the addresses of x86_64
/// (`arch/x86/include/uapi/asm/vsyscall.h`).
const VSYSCALL: std::ops::Range<u64> = 0xffff_ffff_ff60_0000..0xffff_ffff_ff60_1000;

/// Where an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodePlace {
    /// The module, an index into [`ModuleFiles::modules`]; `None` where the process has mapped no code.
    pub module: Option<ModuleId>,
    /// As [`whylate_events::CodeAddress::offset`].
    pub offset: u64,
}

/// What each process has mapped as code, and how its frames are found.
///
/// The records of a process come in their order: what it mapped, forked and executed before the samples in which it
/// shows.
#[derive(Default)]
pub struct Unwinder {
    processes: HashMap<Tid, Process>,
    files: ModuleFiles,
    cache: Cache,
}

#[derive(Clone, Default)]
struct Process {
    space: Space,
    /// Made from the space when a stack is unwound first; `None` after each change of the space.
    frames: Option<FrameTables>,
}

impl Unwinder {
    /// An unwinder that knows no process.
    pub fn new() -> Unwinder {
        Unwinder::default()
    }

    /// Reads what a running process has mapped as code, in place of what was known of it: for the processes that ran before the
    /// records began, and after a loss of records.
    ///
    /// # Errors
    /// `ENOENT` or `ESRCH` where it has ended, `EACCES` or `EPERM` where it is another user's.
    pub fn read_maps(&mut self, pid: Tid) -> io::Result<()> {
        let text = fs::read(format!("/proc/{pid}/maps"))?;
        self.processes.remove(&pid);
        for mapping in code_mappings(&text) {
            self.mapped(pid, &mapping);
        }
        Ok(())
    }

    /// A process mapped code. Files are opened here, so that they are still found after the process has ended.
    pub fn mapped(&mut self, pid: Tid, mapping: &Mapping) {
        if VSYSCALL.contains(&mapping.start) || !self.has_room(pid) {
            return;
        }
        if self.files.is_full() {
            let spaces = self.processes.values().map(|process| &process.space);
            let mapped = spaces.flat_map(|space| space.regions()).map(|region| region.file).collect();
            self.files.close_all_but(&mapped);
        }
        let (file, bias) = self.files.open(pid, mapping);
        let process = self.processes.entry(pid).or_default();
        process.space.add(Region { start: mapping.start, end: mapping.end(), file, bias });
        process.frames = None;
    }

    /// A process began as a copy of another.
    pub fn forked(&mut self, pid: Tid, parent: Tid) {
        if pid != parent
            && self.has_room(pid)
            && let Some(copy) = self.processes.get(&parent).cloned()
        {
            self.processes.insert(pid, copy);
        }
    }

    /// A process began another program: what it had mapped is gone.
    pub fn executed(&mut self, pid: Tid) {
        self.processes.remove(&pid);
    }

    /// A process ended, with its last thread.
    pub fn exited(&mut self, pid: Tid) {
        self.processes.remove(&pid);
    }

    /// The code addresses of a stack, innermost first, at most [`MOST_FRAMES`].
    ///
    /// The first is the instruction pointer. Each other is the return address less one: it is inside the call, which
    /// may be the last instruction of its line and even of its function. A stack ends where it cannot be followed, and
    /// at an address that is no code of the process.
    pub fn unwind(&mut self, pid: Tid, registers: &UserRegisters, stack: &UserStack<'_>) -> Vec<u64> {
        self.frames(pid, registers, stack).iter().map(|frame| frame.address).collect()
    }

    /// As [`unwind`](Self::unwind), with where each frame is on the stack.
    pub(crate) fn frames(
        &mut self,
        pid: Tid,
        registers: &UserRegisters,
        stack: &UserStack<'_>,
    ) -> Vec<UnwoundFrame> {
        let mut unwound = vec![UnwoundFrame { address: registers.ip, stack_pointer: registers.sp }];
        let Some(process) = self.processes.get_mut(&pid) else { return unwound };
        let Process { space, frames } = process;
        let frames = frames.get_or_insert_with(|| FrameTables::new(space, &self.files));
        let limit = (&mut unwound, MOST_FRAMES);
        native::unwind(space, &self.files, frames, &mut self.cache, (registers, stack), limit);
        unwound
    }

    /// What the process has mapped at an address.
    pub(crate) fn region(&self, pid: Tid, address: u64) -> Option<Region> {
        self.processes.get(&pid).and_then(|process| process.space.find(address))
    }

    /// The module of the code that a process makes at run time.
    pub(crate) fn generated(&mut self, pid: Tid) -> Option<ModuleId> {
        let number = self.files.generated(pid);
        self.files.id(number)
    }

    /// The place of an address of [`Unwinder::unwind`], or of the kernel's.
    pub fn locate(&mut self, pid: Tid, address: u64) -> CodePlace {
        // The upper half is the kernel's, of x86_64 and arm64 (`Documentation/arch/x86/x86_64/mm.rst`,
        // `Documentation/arch/arm64/memory.rst`).
        if address >> 63 == 1 && !VSYSCALL.contains(&address) {
            let kernel = self.files.kernel();
            return CodePlace { module: self.files.id(kernel), offset: address };
        }
        match self.region(pid, address) {
            Some(region) => {
                CodePlace { module: self.files.id(region.file), offset: address.wrapping_sub(region.bias) }
            }
            None => CodePlace { module: None, offset: address },
        }
    }

    /// The files of all modules.
    pub fn files(&self) -> &ModuleFiles {
        &self.files
    }

    /// The files of all modules, for their symbols.
    pub fn into_files(self) -> ModuleFiles {
        self.files
    }

    fn has_room(&self, pid: Tid) -> bool {
        self.processes.len() < MOST_PROCESSES || self.processes.contains_key(&pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process;
    use whylate_events::ModuleKind;

    const PARENT: Tid = Tid(100);
    const CHILD: Tid = Tid(200);

    fn mapping(start: u64, path: &str) -> Mapping {
        Mapping { start, length: 0x1000, path: PathBuf::from(path), ..Mapping::default() }
    }

    fn path(unwinder: &mut Unwinder, pid: Tid, address: u64) -> Option<String> {
        let id = unwinder.locate(pid, address).module?;
        Some(unwinder.files().modules()[id.0 as usize].path.clone())
    }

    #[test]
    fn forks_copy_execs_clear_and_ends_forget() {
        let mut unwinder = Unwinder::new();
        unwinder.mapped(PARENT, &mapping(0x1000, "/nonexistent/program"));
        unwinder.forked(CHILD, PARENT);
        unwinder.mapped(CHILD, &mapping(0x1000, "/nonexistent/library (deleted)"));
        let mut path = |pid, address| path(&mut unwinder, pid, address);
        assert_eq!(path(PARENT, 0x1800).as_deref(), Some("/nonexistent/program"));
        assert_eq!(path(CHILD, 0x1fff).as_deref(), Some("/nonexistent/library"));
        assert_eq!(path(CHILD, 0x2000), None);
        unwinder.executed(CHILD);
        assert_eq!(unwinder.locate(CHILD, 0x1800), CodePlace { module: None, offset: 0x1800 });
        unwinder.exited(PARENT);
        unwinder.forked(CHILD, PARENT);
        assert_eq!(unwinder.locate(PARENT, 0x1800).module, None);
        assert_eq!(unwinder.locate(CHILD, 0x1800).module, None);
    }

    #[test]
    fn memory_without_a_file_is_code_that_its_process_made() {
        let mut unwinder = Unwinder::new();
        for (start, path) in
            [(0x1000, ""), (0x2000, "//anon"), (0x3000, "[heap]"), (0x4000, "/memfd:code (deleted)")]
        {
            unwinder.mapped(PARENT, &mapping(start, path));
            assert_eq!(unwinder.locate(PARENT, start + 5).offset, start + 5, "{path}");
        }
        unwinder.mapped(CHILD, &mapping(0x1000, ""));
        unwinder.locate(CHILD, 0x1000);
        let modules = unwinder.files().modules();
        let shown: Vec<_> = modules.iter().map(|module| (module.name(), module.kind)).collect();
        assert_eq!(shown, [("[jit 100]", ModuleKind::Jit), ("[jit 200]", ModuleKind::Jit)]);
    }

    #[test]
    fn the_upper_half_is_the_kernels_without_the_vsyscall_page() {
        let mut unwinder = Unwinder::new();
        unwinder.read_maps(Tid(process::id() as i32)).expect("this process");
        let kernel = 0xffff_ffff_8100_0000;
        assert_eq!(path(&mut unwinder, PARENT, kernel).as_deref(), Some("[kernel]"));
        assert_eq!(unwinder.locate(PARENT, kernel).offset, kernel);
        assert_eq!(unwinder.locate(PARENT, VSYSCALL.start).module, None);
    }

    #[test]
    fn only_modules_with_an_address_of_a_stack_are_listed() {
        let mut unwinder = Unwinder::new();
        unwinder.mapped(PARENT, &mapping(0x1000, "/nonexistent/unused"));
        unwinder.mapped(PARENT, &mapping(0x2000, "/nonexistent/used"));
        assert_eq!(path(&mut unwinder, PARENT, 0x2000).as_deref(), Some("/nonexistent/used"));
        assert_eq!(unwinder.files().modules().len(), 1);
    }
}
