//! A child's system calls, watched with `ptrace(2)`: so that tests can kill a program at a place they choose.
//!
//! Only the child's first thread is watched; its own children run free.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

const PTRACE_TRACEME: libc::c_long = 0;
const PTRACE_SYSCALL: libc::c_long = 24;
const PTRACE_SETOPTIONS: libc::c_long = 0x4200;

/// A system call at its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// Its number on this architecture (`SYS_*`).
    pub number: libc::c_long,
    /// Its arguments.
    pub arguments: [u64; 6],
}

/// Runs `command` and kills it with `SIGKILL` just before its `at`-th system call, counted from 1, that may change
/// anything outside of the process: a file, what of it is on the disk, the file system's tree, a thread's scheduling, or by starting a program.
/// A program with fewer such calls runs to its end. Pipes of `command` are closed: give its output to a file, if at all.
///
/// # Errors
/// When it cannot be started, or the kernel does not let it be traced.
///
/// [`ptrace(2)`](https://man7.org/linux/man-pages/man2/ptrace.2.html)
pub fn kill_at_change(command: &mut Command, at: u64) -> io::Result<ExitStatus> {
    let mut changes = 0;
    run_watched(command, |call| {
        changes += u64::from(call.may_change());
        changes == at && call.may_change()
    })
}

impl SystemCall {
    /// True where it may change anything outside of the process. Writes to standard output and error do not count.
    pub fn may_change(&self) -> bool {
        let flags = |argument: usize| self.arguments[argument] as i32;
        let creates = |flags: i32| flags & (libc::O_CREAT | libc::O_TRUNC) != 0;
        match self.number {
            libc::SYS_openat => creates(flags(2)),
            // Newer architectures have the second one only.
            #[cfg(not(target_arch = "riscv64"))]
            libc::SYS_renameat => true,
            libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_writev => self.arguments[0] > 2,
            libc::SYS_ftruncate
            | libc::SYS_fallocate
            | libc::SYS_fsync
            | libc::SYS_fdatasync
            | libc::SYS_syncfs
            | libc::SYS_renameat2
            | libc::SYS_unlinkat
            | libc::SYS_mkdirat
            | libc::SYS_symlinkat
            | libc::SYS_linkat
            | libc::SYS_fchmod
            | libc::SYS_fchmodat
            | libc::SYS_fchown
            | libc::SYS_fchownat
            | libc::SYS_utimensat
            | libc::SYS_copy_file_range
            | libc::SYS_sendfile
            | libc::SYS_sched_setaffinity
            | libc::SYS_sched_setattr
            | libc::SYS_sched_setscheduler
            | libc::SYS_clone
            | libc::SYS_clone3 => true,
            other => may_change_by_path(other, flags(1)),
        }
    }
}

/// The older calls without a directory, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
fn may_change_by_path(number: libc::c_long, flags: i32) -> bool {
    match number {
        libc::SYS_open => flags & (libc::O_CREAT | libc::O_TRUNC) != 0,
        libc::SYS_creat
        | libc::SYS_truncate
        | libc::SYS_rename
        | libc::SYS_unlink
        | libc::SYS_mkdir
        | libc::SYS_rmdir
        | libc::SYS_symlink
        | libc::SYS_link
        | libc::SYS_chmod
        | libc::SYS_chown
        | libc::SYS_lchown
        | libc::SYS_fork
        | libc::SYS_vfork => true,
        _ => false,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn may_change_by_path(_number: libc::c_long, _flags: i32) -> bool {
    false
}

/// Runs `command` until it ends, or until `kill` is true of a system call.
fn run_watched(command: &mut Command, mut kill: impl FnMut(&SystemCall) -> bool) -> io::Result<ExitStatus> {
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; this is one system call.
    unsafe { command.pre_exec(|| trace(PTRACE_TRACEME, 0, 0)) };
    let child = command.spawn()?;
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    // The child stops at its exec.
    let first = wait(pid)?;
    if !libc::WIFSTOPPED(first) {
        return Ok(ExitStatus::from_raw(first));
    }
    // It must not outlive us in whatever state it is.
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    trace(PTRACE_SETOPTIONS, pid, options as usize)?;
    let mut signal = 0;
    loop {
        trace(PTRACE_SYSCALL, pid, signal)?;
        let status = wait(pid)?;
        if !libc::WIFSTOPPED(status) {
            return Ok(ExitStatus::from_raw(status));
        }
        let stopped_by = libc::WSTOPSIG(status);
        let at_call = stopped_by == libc::SIGTRAP | 0x80;
        // A signal is passed on: the child receives it as it would without a tracer.
        signal = if at_call { 0 } else { usize::try_from(stopped_by).unwrap_or(0) };
        if at_call && entry(pid)?.is_some_and(|call| kill(&call)) {
            // SAFETY: a system call without pointers, on a child that has not been waited for.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            return wait(pid).map(ExitStatus::from_raw);
        }
    }
}

/// `struct ptrace_syscall_info` of `include/uapi/linux/ptrace.h`, as it is at an entry. musl does not declare it.
#[repr(C)]
#[derive(Default)]
struct SyscallInfo {
    op: u8,
    pad: [u8; 3],
    arch: u32,
    instruction_pointer: u64,
    stack_pointer: u64,
    number: u64,
    arguments: [u64; 6],
}

const PTRACE_GET_SYSCALL_INFO: usize = 0x420e;
const PTRACE_SYSCALL_INFO_ENTRY: u8 = 1;

/// The system call that the child has stopped at; `None` at its return.
fn entry(pid: libc::pid_t) -> io::Result<Option<SystemCall>> {
    let mut info = SyscallInfo::default();
    let size = size_of_val(&info);
    // SAFETY: the kernel writes at most `size` bytes to `info`, which lives here; any bytes are a valid value of it.
    let read = unsafe { libc::syscall(libc::SYS_ptrace, PTRACE_GET_SYSCALL_INFO, pid, size, &raw mut info) };
    if read < 0 {
        return Err(io::Error::last_os_error());
    }
    let call = SystemCall { number: info.number as libc::c_long, arguments: info.arguments };
    Ok((info.op == PTRACE_SYSCALL_INFO_ENTRY).then_some(call))
}

/// As a bare system call: the C libraries disagree on the type of the request.
fn trace(request: libc::c_long, pid: libc::pid_t, data: usize) -> io::Result<()> {
    // SAFETY: none of the requests made here has the kernel read or write through a pointer of ours.
    let done = unsafe { libc::syscall(libc::SYS_ptrace, request, pid, 0usize, data) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn wait(pid: libc::pid_t) -> io::Result<libc::c_int> {
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes one integer to `status`, which lives here.
        let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
        if waited == pid {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, at: u64) -> ExitStatus {
        kill_at_change(Command::new("/bin/sh").args(["-c", script]), at).expect("it can be traced")
    }

    #[test]
    fn a_program_is_killed_before_the_change() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str| directory.path().join(name);
        let script = format!("echo 1 > {0}/a; echo 2 > {0}/b", directory.path().display());
        // To open each file is a change; the shell then writes to its standard output.
        for (at, a, b) in [(1, None, None), (2, Some("1\n"), None)] {
            assert_eq!(shell(&script, at).signal(), Some(libc::SIGKILL), "{at}");
            let read = |name: &str| std::fs::read_to_string(file(name)).ok();
            assert_eq!((read("a").as_deref(), read("b").as_deref()), (a, b), "killed at {at}");
            for name in ["a", "b"] {
                let _ = std::fs::remove_file(file(name));
            }
        }
        assert_eq!(shell(&script, 3).code(), Some(0));
    }

    #[test]
    fn output_for_the_user_is_no_change() {
        let call = |number, arguments| SystemCall { number, arguments }.may_change();
        assert!(!call(libc::SYS_write, [1, 0, 9, 0, 0, 0]) && call(libc::SYS_write, [3, 0, 9, 0, 0, 0]));
        let (read, create) = (libc::O_RDONLY as u64, (libc::O_WRONLY | libc::O_CREAT) as u64);
        assert!(
            !call(libc::SYS_openat, [0, 0, read, 0, 0, 0]) && call(libc::SYS_openat, [0, 0, create, 0, 0, 0])
        );
    }

    #[test]
    fn a_program_without_that_many_changes_ends_as_it_does_alone() {
        assert_eq!(shell("kill -0 $$; exit 7", 3).code(), Some(7));
        assert_eq!(shell("kill -TERM $$", 3).signal(), Some(libc::SIGTERM));
        let missing = kill_at_change(&mut Command::new("/no/such/program"), 1);
        assert_eq!(missing.expect_err("missing").kind(), io::ErrorKind::NotFound);
    }
}
