//! Compiles small programs, runs them until they wait for input, and takes their registers and stack.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{CodeAddress, Frame, SampleKind, StackId, StackSample, Stacks};
use whylate_stacks::{ModuleFiles, SymbolOptions, Unwinder, UserRegisters, UserStack, symbolize};
use whylate_testing::{Need, has_program, skip};

/// The directory of the sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs")
}

/// The line of a source that a comment marks: `line: NAME` at its end.
pub(crate) fn line(source: &str, name: &str) -> Option<u32> {
    let text = fs::read_to_string(sources().join(source)).expect("a source");
    let marked =
        |line: &str| line.split("line: ").nth(1).is_some_and(|rest| rest.trim_end_matches(" */") == name);
    let at = text.lines().position(marked).unwrap_or_else(|| panic!("no line {name} in {source}"));
    Some(at as u32 + 1)
}

/// Compiles a source without frame pointers; `None` without a compiler, or without the static libraries that `options`
/// ask for.
#[track_caller]
pub(crate) fn compile(source: &str, options: &[&str], output: &Path) -> Option<()> {
    let (compiler, usual): (_, &[&str]) = match Path::new(source).extension().and_then(|name| name.to_str()) {
        Some("rs") => ("rustc", &["--edition=2024", "-O", "-g", "-Cforce-frame-pointers=no"]),
        Some("cpp") => ("g++", NO_FRAME_POINTERS),
        _ => ("cc", NO_FRAME_POINTERS),
    };
    if !has_program(compiler) {
        return None;
    }
    // Libraries among the options come after what needs them.
    let mut command = Command::new(compiler);
    command.args(usual).arg("-o").arg(output).arg(sources().join(source)).args(options);
    let made = command.output().expect("the compiler runs");
    let errors = String::from_utf8_lossy(&made.stderr);
    if !made.status.success() && options.iter().any(|option| option.starts_with("-static")) {
        skip(Need::Program, format_args!("{compiler} {options:?}: {errors}"));
        return None;
    }
    assert!(made.status.success(), "{compiler} {source} {options:?}: {errors}");
    Some(())
}

/// Options of C compilers.
const NO_FRAME_POINTERS: &[&str] = &["-O2", "-g", "-fomit-frame-pointer", "-Wl,--build-id"];

/// Runs a program of binutils; `None` where it is not installed.
#[track_caller]
pub(crate) fn run(program: &str, arguments: &[&str], directory: &Path) -> Option<()> {
    if !has_program(program) {
        return None;
    }
    let status = Command::new(program).args(arguments).current_dir(directory).status().expect("it runs");
    assert!(status.success(), "{program} {arguments:?}");
    Some(())
}

/// A program that waits for input in a system call; it ends when dropped.
pub(crate) struct Waiting {
    child: Child,
    _input: ChildStdin,
    registers: UserRegisters,
    stack: Vec<u8>,
}

impl Waiting {
    /// Starts it; `None` where `/proc` does not give the registers and the memory of a child.
    #[track_caller]
    pub(crate) fn start(program: &Path) -> Option<Waiting> {
        let mut child = Command::new(program).stdin(Stdio::piped()).spawn().expect("it starts");
        let input = child.stdin.take().expect("a pipe");
        let pid = child.id();
        let Some(registers) = registers_in_read(pid) else {
            skip(Need::Machine, "/proc/PID/syscall does not show the registers of a child");
            child.kill().expect("it runs");
            child.wait().expect("it ran");
            return None;
        };
        let memory = File::open(format!("/proc/{pid}/mem")).expect("a child's memory");
        let mut stack = vec![0; 1 << 14];
        // Up to the end of the stack, which may be nearer.
        let count = memory.read_at(&mut stack, registers.sp).expect("its stack");
        stack.truncate(count);
        Some(Waiting { child, _input: input, registers, stack })
    }

    pub(crate) fn pid(&self) -> Tid {
        Tid(self.child.id() as i32)
    }

    /// Its addresses.
    pub(crate) fn unwind(&self, unwinder: &mut Unwinder) -> Vec<u64> {
        unwinder.unwind(self.pid(), &self.registers, &self.stack())
    }

    pub(crate) fn registers(&self) -> UserRegisters {
        self.registers
    }

    pub(crate) fn stack(&self) -> UserStack<'_> {
        UserStack { start: self.registers.sp, bytes: &self.stack }
    }

    /// Its stack as a recording has it, without names, and the files.
    pub(crate) fn recorded(&self) -> (Stacks, ModuleFiles) {
        let mut unwinder = Unwinder::new();
        unwinder.read_maps(self.pid()).expect("a running child");
        let addresses = self.unwind(&mut unwinder);
        recording(unwinder, self.pid(), &addresses)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The registers of a process that is in read(2), of `/proc/PID/syscall` (`proc_pid_syscall(5)`).
fn registers_in_read(pid: u32) -> Option<UserRegisters> {
    let path = format!("/proc/{pid}/syscall");
    for _ in 0..6_000 {
        let text = fs::read_to_string(&path).ok()?;
        let words: Vec<&str> = text.split_whitespace().collect();
        // The first argument is the descriptor: the dynamic loader reads from others.
        if let [number, "0x0", .., sp, ip] = words.as_slice()
            && number.parse::<i64>() == Ok(READ)
        {
            let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
            return Some(UserRegisters { ip: number(ip)?, sp: number(sp)?, ..UserRegisters::default() });
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the program does not come to wait");
}

#[cfg(target_arch = "x86_64")]
const READ: i64 = 0;
#[cfg(target_arch = "aarch64")]
const READ: i64 = 63;

/// One stack as a recording.
pub(crate) fn recording(mut unwinder: Unwinder, pid: Tid, addresses: &[u64]) -> (Stacks, ModuleFiles) {
    let mut stacks = Stacks::default();
    for &address in addresses {
        let place = unwinder.locate(pid, address);
        stacks.addresses.push(CodeAddress {
            module: place.module,
            offset: place.offset,
            locations: Vec::new(),
        });
    }
    stacks.stacks.push((0..addresses.len() as u32).map(whylate_events::AddressId).collect());
    let kind = SampleKind::SwitchOut;
    stacks.samples.push(StackSample { time: Ns(0), tid: pid, pid, cpu: Cpu(0), kind, stack: StackId(0) });
    stacks.modules = unwinder.files().modules();
    (stacks, unwinder.into_files())
}

/// The stack's frames with names, and what the symbolisation notes.
pub(crate) fn named(mut stacks: Stacks, files: &ModuleFiles, debug_dirs: &[&Path]) -> (Vec<String>, Stacks) {
    let debug_dirs = debug_dirs.iter().map(|path| path.to_path_buf()).collect();
    symbolize(&mut stacks, files, &SymbolOptions { debug_dirs, kallsyms: None });
    let shown = stacks.frames(StackId(0)).map(|frame| show(&frame)).collect();
    (shown, stacks)
}

/// `function file:line`, as much as is known.
fn show(frame: &Frame<'_>) -> String {
    let mut shown = frame.function().unwrap_or("?").to_owned();
    let file = frame.location.and_then(|location| location.file.as_deref());
    if let Some(file) = file.and_then(|file| file.rsplit('/').next()) {
        shown.push_str(&format!(" {file}"));
    }
    if let Some(line) = frame.line() {
        shown.push_str(&format!(":{line}"));
    }
    shown
}
