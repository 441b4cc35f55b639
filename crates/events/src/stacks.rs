//! Call stacks that a recording carries beside its events: where a thread blocked, where it touched a page
//! first, where it spent its time.
//!
//! ```text
//! StackSample ──> stack: [AddressId], innermost first ──> CodeAddress { module, offset } ──> [CodeLocation]
//! ```
//!
//! Addresses and stacks are stored once. An address has several locations where functions were inlined: the innermost
//! first. It has none while it is not resolved, which another machine can do later by the module's build id.

use crate::mutexes::MutexReading;
use std::collections::HashMap;
use std::fmt;
use whylate_base::{Cpu, Ns, SourceLocation, Tid};

/// An index into [`Stacks::modules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

/// An index into [`Stacks::addresses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressId(pub u32);

/// An index into [`Stacks::stacks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(pub u32);

/// The sampled call stacks of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    /// The files that code was mapped from, and the kernel.
    pub modules: Vec<CodeModule>,
    /// Every code address of any stack, once.
    pub addresses: Vec<CodeAddress>,
    /// Every different stack, innermost address first.
    pub stacks: Vec<Vec<AddressId>>,
    /// The samples, in time order.
    pub samples: Vec<StackSample>,
    /// The interval of the CPU clock of each thread; zero where it was not sampled.
    pub period: Ns,
    /// Samples that the kernel had no room for.
    pub lost: u64,
    /// The mutexes that threads waited for, in time order.
    pub mutexes: Vec<MutexReading>,
    /// Kernel time that the sampled threads spent in taking the samples, as far as it is known: an estimate.
    pub cost: Option<Ns>,
    /// What is missing and why, in sentences.
    pub notes: Vec<String>,
}

impl Stacks {
    /// The locations of a stack, innermost first, with inlined functions expanded; an unresolved address is one location
    /// with module and offset alone.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = Frame<'_>> {
        let ids = self.stacks.get(stack.0 as usize).map(Vec::as_slice).unwrap_or_default();
        ids.iter()
            .filter_map(|&id| self.addresses.get(id.0 as usize))
            .flat_map(|address| self.expand(address))
    }

    /// The program's own frames of a stack, innermost first: those of its files and of generated code, without
    /// - frames whose source file is the toolchain's: inlined parts of the C++, C and Rust libraries are in the
    ///   program's file, and the line that called them explains more;
    /// - frames of a file that calls generated code directly: it is the runtime of that code (Python, a JavaScript
    ///   engine), and the generated code is the program's;
    /// - what called the outermost generated code, where it has no source file: the start of the interpreter.
    pub fn own_frames(&self, stack: StackId) -> impl Iterator<Item = Frame<'_>> {
        let frames: Vec<Frame<'_>> = self.frames(stack).collect();
        let callers = frames.iter().zip(frames.iter().skip(1));
        let runtimes: Vec<&CodeModule> = callers
            .filter(|(called, caller)| called.kind() == ModuleKind::Jit && caller.kind() != ModuleKind::Jit)
            .filter_map(|(_, caller)| caller.module)
            .collect();
        let outermost = frames.iter().rposition(|frame| frame.kind() == ModuleKind::Jit);
        let is_own = move |at: usize, frame: &Frame<'_>| match frame.kind() {
            _ if frame.is_toolchain() => false,
            ModuleKind::Jit => true,
            ModuleKind::Program => {
                !frame.module.is_some_and(|module| runtimes.contains(&module))
                    && (outermost.is_none_or(|outermost| at < outermost) || frame.file_name().is_some())
            }
            ModuleKind::System | ModuleKind::Kernel => false,
        };
        let frames = frames.into_iter().enumerate();
        frames.filter(move |(at, frame)| is_own(*at, frame)).map(|(_, frame)| frame)
    }

    /// The frame that a programmer asks for: the program's own line in this stack.
    ///
    /// It is the innermost of the [own frames](Self::own_frames) with a source file, else the innermost of them with a
    /// function, else the innermost frame outside of the kernel with a function, else the innermost of them.
    pub fn own_frame(&self, stack: StackId) -> Option<Frame<'_>> {
        let has_function = |frame: &Frame<'_>| frame.function().is_some();
        let mut user = self.frames(stack).filter(|frame| frame.kind() != ModuleKind::Kernel);
        self.own_frames(stack)
            .find(|frame| frame.file_name().is_some())
            .or_else(|| self.own_frames(stack).find(has_function))
            .or_else(|| user.find(has_function))
            .or_else(|| self.own_frames(stack).next())
    }

    /// Kernel time of one sample, as far as it is known: an estimate.
    pub fn cost_of_one(&self) -> Option<Ns> {
        let count = i64::try_from(self.samples.len()).ok().filter(|&count| count > 0)?;
        self.cost.map(|cost| Ns(cost.0 / count))
    }

    /// Leaves out the samples and mutexes of other instants, and the stacks and addresses that no sample needs then.
    pub fn retain(&mut self, keeps: impl Fn(Ns) -> bool) {
        let one = self.cost_of_one();
        self.samples.retain(|sample| keeps(sample.time));
        let count = i64::try_from(self.samples.len()).unwrap_or(i64::MAX);
        self.cost = one.map(|one| Ns(one.0.saturating_mul(count)));
        self.mutexes.retain(|mutex| keeps(mutex.from));
        let mut stacks = Renumbered::default();
        for sample in &mut self.samples {
            sample.stack = StackId(stacks.number(sample.stack.0));
        }
        self.stacks = stacks.chosen(&self.stacks);
        let mut addresses = Renumbered::default();
        for address in self.stacks.iter_mut().flatten() {
            *address = AddressId(addresses.number(address.0));
        }
        self.addresses = addresses.chosen(&self.addresses);
    }

    fn expand<'a>(&'a self, address: &'a CodeAddress) -> impl Iterator<Item = Frame<'a>> {
        let module = address.module.and_then(|id| self.modules.get(id.0 as usize));
        let frame = move |location| Frame { module, offset: address.offset, location };
        let unresolved = address.locations.is_empty().then(|| frame(None));
        unresolved.into_iter().chain(address.locations.iter().map(move |location| frame(Some(location))))
    }
}

/// New numbers of those members of a table that are needed, in the order in which they are.
#[derive(Debug, Default)]
struct Renumbered {
    numbers: HashMap<u32, u32>,
    order: Vec<u32>,
}

impl Renumbered {
    fn number(&mut self, old: u32) -> u32 {
        let next = self.order.len() as u32;
        let order = &mut self.order;
        *self.numbers.entry(old).or_insert_with(|| {
            order.push(old);
            next
        })
    }

    /// The members; a number that the table lacks has an empty one.
    fn chosen<T: Clone + Default>(&self, table: &[T]) -> Vec<T> {
        self.order.iter().map(|&old| table.get(old as usize).cloned().unwrap_or_default()).collect()
    }
}

/// A file that code was mapped from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CodeModule {
    /// Its path on the recorded machine; `[kernel]`, `[vdso]` or `[jit PID]` where it is none.
    pub path: String,
    /// The GNU build id in hexadecimal digits, where the file has one.
    pub build_id: Option<String>,
    /// What the module is to its reader.
    pub kind: ModuleKind,
}

impl CodeModule {
    /// The file's name without its directories.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// Whose code a module is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ModuleKind {
    /// The program or one of its own libraries.
    #[default]
    Program,
    /// A library of the system (libc, the dynamic loader, libstdc++ ...): a caller's line explains more than its own.
    System,
    /// The kernel.
    Kernel,
    /// Code that was made at run time and described in a perf map file (`/tmp/perf-PID.map`).
    Jit,
}

/// A place in a module's code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CodeAddress {
    /// The module; `None` for an address in none.
    pub module: Option<ModuleId>,
    /// The address as the module's file has it, in its symbols and for `addr2line`: the same in a separate debug file.
    /// The address itself where there is no module, and of the kernel and of JIT code. The offset in the file where the
    /// file was not readable.
    pub offset: u64,
    /// What it is in the source, the innermost inlined function first; empty while not resolved.
    pub locations: Vec<CodeLocation>,
}

/// A place in source code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CodeLocation {
    /// The function, demangled.
    pub function: Option<String>,
    /// The source file's path, as the debug information has it.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
}

/// One frame of a stack.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The module, where there is one.
    pub module: Option<&'a CodeModule>,
    /// The offset as in [`CodeAddress::offset`].
    pub offset: u64,
    /// The place in the source; `None` where the address is not resolved.
    pub location: Option<&'a CodeLocation>,
}

impl Frame<'_> {
    /// Whose code it is; that of no module counts as the program's.
    pub fn kind(&self) -> ModuleKind {
        self.module.map(|module| module.kind).unwrap_or_default()
    }

    /// Whether its source is a file of the compiler or of a language's library: a header below `/usr/include`, the
    /// library of Rust (`/rustc/HASH/library`, or the component `rust-src`), or a module of Python in `/usr/lib`.
    fn is_toolchain(&self) -> bool {
        const DIRECTORIES: [&str; 4] = ["/usr/include/", "/usr/lib/", "/rustc/", "<frozen "];
        let file = self.location.and_then(|location| location.file.as_deref()).unwrap_or_default();
        DIRECTORIES.iter().any(|directory| file.starts_with(directory))
            || file.contains("/lib/rustlib/src/rust/library/")
            || file.contains("/lib/python3.") && !file.contains("-packages/")
    }

    /// The function's name, where it is known.
    pub fn function(&self) -> Option<&str> {
        self.location.and_then(|location| location.function.as_deref())
    }

    /// The source file without its directories, where it is known.
    pub fn file_name(&self) -> Option<&str> {
        let file = self.location?.file.as_deref()?;
        Some(file.rsplit('/').next().unwrap_or(file))
    }

    /// The line in the source file, where it is known.
    pub fn line(&self) -> Option<u32> {
        self.location.and_then(|location| location.line)
    }
}

impl Frame<'_> {
    /// All that is known of it.
    pub fn source(&self) -> SourceLocation {
        let location = self.location;
        SourceLocation {
            function: location.and_then(|location| location.function.clone()),
            file: location.and_then(|location| location.file.clone()),
            line: self.line(),
            module: self.module.map(|module| module.path.clone()),
            offset: Some(self.offset),
        }
    }
}

/// As [`SourceLocation`] is shown.
impl fmt::Display for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source().fmt(f)
    }
}

/// One sample: what a thread executed at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSample {
    /// When, on the recording's clock.
    pub time: Ns,
    /// The thread whose stack it is.
    pub tid: Tid,
    /// Its process.
    pub pid: Tid,
    /// The CPU it ran on.
    pub cpu: Cpu,
    /// Why the sample was taken.
    pub kind: SampleKind,
    /// The stack.
    pub stack: StackId,
}

/// What made the kernel take a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// The thread was switched out: it blocked here, or was preempted here.
    SwitchOut,
    /// A page fault that needed no device.
    MinorFault {
        /// The address that was touched.
        address: u64,
    },
    /// A page fault that read from a device.
    MajorFault {
        /// The address that was touched.
        address: u64,
    },
    /// The thread's CPU clock: it has run for one more period.
    CpuClock,
    /// A timer's interrupt found the thread running, such as the kernel's tick. Unlike the thread's own clock it may come at
    /// the same place of each activation.
    Timer,
    /// The thread woke another.
    Wake {
        /// The thread that was woken.
        woken: Tid,
    },
    /// The thread entered the kernel by a system call.
    Syscall {
        /// The call's number in the kernel's table of the thread's architecture.
        number: i64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Stacks {
        let location = |function: &str, line| CodeLocation {
            function: Some(function.to_owned()),
            file: Some("/src/queue.cpp".to_owned()),
            line: Some(line),
        };
        Stacks {
            modules: vec![
                CodeModule { path: "/opt/bin/control".to_owned(), ..CodeModule::default() },
                CodeModule {
                    path: "/lib/libc.so.6".to_owned(),
                    kind: ModuleKind::System,
                    ..CodeModule::default()
                },
            ],
            addresses: vec![
                CodeAddress {
                    module: Some(ModuleId(1)),
                    offset: 0x99,
                    locations: vec![CodeLocation {
                        function: Some("write".to_owned()),
                        ..CodeLocation::default()
                    }],
                },
                CodeAddress {
                    module: Some(ModuleId(0)),
                    offset: 0x1234,
                    locations: vec![location("Queue::grow", 12), location("Queue::push", 88)],
                },
                CodeAddress { module: Some(ModuleId(0)), offset: 0x40, locations: Vec::new() },
                CodeAddress { module: None, offset: 0xff, locations: Vec::new() },
            ],
            stacks: vec![vec![AddressId(0), AddressId(1), AddressId(2), AddressId(3), AddressId(9)]],
            ..Stacks::default()
        }
    }

    #[test]
    fn what_is_retained_is_the_same_and_nothing_else_is_left() {
        let mut stacks = stacks();
        stacks.stacks.insert(0, vec![AddressId(2)]);
        stacks.samples = (0..6)
            .map(|n| StackSample {
                time: Ns(n),
                tid: Tid(1),
                pid: Tid(1),
                cpu: Cpu(0),
                kind: SampleKind::CpuClock,
                stack: StackId(u32::from(n == 1)),
            })
            .collect();
        let frames = |stacks: &Stacks, sample: &StackSample| {
            stacks.frames(sample.stack).map(|frame| frame.to_string()).collect::<Vec<_>>()
        };
        let before: Vec<_> = stacks.samples.iter().map(|sample| frames(&stacks, sample)).collect();
        stacks.retain(|time| time > Ns(3));
        assert_eq!((stacks.samples.len(), stacks.stacks.len(), stacks.addresses.len()), (2, 1, 1));
        assert!(stacks.samples.iter().all(|sample| frames(&stacks, sample) == before[0]));
        stacks.retain(|_| false);
        assert_eq!((stacks.samples.len(), stacks.stacks.len(), stacks.addresses.len()), (0, 0, 0));
    }

    #[test]
    fn a_stack_expands_to_frames_that_show_what_is_known() {
        let stacks = stacks();
        let shown: Vec<String> = stacks.frames(StackId(0)).map(|frame| frame.to_string()).collect();
        assert_eq!(
            shown,
            [
                "`write` in libc.so.6",
                "queue.cpp:12 (`Queue::grow`)",
                "queue.cpp:88 (`Queue::push`)",
                "control+0x40",
                "0xff"
            ]
        );
        assert_eq!(stacks.frames(StackId(1)).count(), 0, "no such stack");
    }

    /// Frames, innermost first: kind, file and function, either of which may be empty. Each kind is a module.
    fn stack_of(frames: &[(ModuleKind, &str, &str)]) -> Stacks {
        let kinds = [ModuleKind::Program, ModuleKind::System, ModuleKind::Kernel, ModuleKind::Jit];
        let module = |kind| CodeModule { path: format!("/{kind:?}"), kind, ..CodeModule::default() };
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let addresses = frames.iter().enumerate().map(|(at, &(kind, file, function))| CodeAddress {
            module: kinds.iter().position(|&other| other == kind).map(|index| ModuleId(index as u32)),
            offset: at as u64,
            locations: match (some(file), some(function)) {
                (None, None) => Vec::new(),
                (file, function) => vec![CodeLocation { function, file, line: Some(1 + at as u32) }],
            },
        });
        Stacks {
            modules: kinds.map(module).to_vec(),
            addresses: addresses.collect(),
            stacks: vec![(0..frames.len() as u32).map(AddressId).collect()],
            ..Stacks::default()
        }
    }

    #[test]
    fn the_own_frame_is_the_innermost_line_of_the_program() {
        use ModuleKind::{Jit, Kernel, Program, System};
        let libc = (System, "/build/glibc/read.c", "read");
        for (what, frames, expected) in [
            ("a library's line is not the program's", &[libc, (Program, "/src/a.c", "step")][..], Some(1)),
            (
                "a line is better than an inner function",
                &[libc, (Program, "", "asm"), (Program, "/src/a.c", "step")],
                Some(2),
            ),
            ("a function will do", &[libc, (Program, "", ""), (Program, "", "step")], Some(2)),
            ("else a library's function", &[(Kernel, "", "futex_wait"), libc, (Program, "", "")], Some(1)),
            ("else an address", &[(Kernel, "", "futex_wait"), (System, "", ""), (Program, "", "")], Some(2)),
            ("the kernel's is none", &[(Kernel, "", "futex_wait"), (System, "", "")], None),
            (
                "inlined parts of the language's library are passed over",
                &[
                    (Program, "/usr/include/c++/14/bits/stl_vector.h", "push_back"),
                    (Program, "/rustc/59807616/library/alloc/src/vec.rs", "grow"),
                    (Program, "/opt/rust/lib/rustlib/src/rust/library/alloc/src/vec.rs", "push"),
                    (Program, "/src/queue.cpp", "Queue::push"),
                ],
                Some(3),
            ),
            (
                "the interpreter is the runtime of generated code",
                &[
                    libc,
                    (Program, "/build/python/timemodule.c", "time_sleep"),
                    (Program, "/build/python/ceval.c", "eval"),
                    (Jit, "/usr/lib/python3.13/threading.py", "wait"),
                    (Program, "/build/python/ceval.c", "eval"),
                    (Jit, "/srv/control.py", "loop"),
                    (Program, "/build/python/ceval.c", "eval"),
                    (Program, "/build/python/main.c", "main"),
                ],
                Some(5),
            ),
            (
                "a library that generated code calls is the program's",
                &[
                    (Program, "/src/filter.c", "filter"),
                    (Jit, "/srv/control.py", "loop"),
                    (System, "", "eval"),
                ],
                Some(0),
            ),
        ] {
            let stacks = stack_of(frames);
            let found = stacks.own_frame(StackId(0)).map(|frame| frame.offset);
            assert_eq!(found, expected, "{what}");
        }
    }
    #[test]
    fn what_starts_an_interpreter_is_not_the_programs() {
        use ModuleKind::{Jit, Program, System};
        let generated = [(Jit, "/srv/control.py", "loop"), (System, "", "eval")];
        for (outermost, expected) in
            [((Program, "", "_start"), &[0][..]), ((Program, "/src/robot.cpp", "main"), &[0, 2])]
        {
            let stacks = stack_of(&[generated[0], generated[1], outermost]);
            let own: Vec<u64> = stacks.own_frames(StackId(0)).map(|frame| frame.offset).collect();
            assert_eq!(own, expected, "{outermost:?}");
        }
    }
}
