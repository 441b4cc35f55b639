//! Processes: programs that must not outlive their parent, or must do so, and forks used as a load.

use rustix::process::{Signal, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has the kernel kill the program with SIGKILL when the thread that started it ends, however it
/// ends.
///
/// The signal depends on the thread, not the process: start the program from a thread that waits for it.
///
/// [`PR_SET_PDEATHSIG(2const)`](https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html)
pub fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let set = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have exited already, and then no signal is sent.
        match rustix::process::getppid() {
            Some(now) if now == parent => Ok(()),
            _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; `set` makes two
    // system calls, and allocates nothing.
    unsafe { command.pre_exec(set) };
}

/// Has the program begin a session of its own: the end of the parent's terminal does not reach it.
///
/// [`setsid(2)`](https://man7.org/linux/man-pages/man2/setsid.2.html)
pub fn new_session(command: &mut Command) {
    let begin = || rustix::process::setsid().map(drop).map_err(io::Error::from);
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; `begin` makes one system call, and
    // allocates nothing.
    unsafe { command.pre_exec(begin) };
}

/// Forks a process that ends at once, and waits for it. Used to generate load.
///
/// # Errors
/// The refusal: too many processes, or too little memory.
///
/// [`fork(2)`](https://man7.org/linux/man-pages/man2/fork.2.html)
pub fn fork_and_wait() -> io::Result<()> {
    // SAFETY: the child makes no call but `_exit`, which is async-signal-safe and does not return.
    let child = unsafe {
        match libc::fork() {
            0 => libc::_exit(0),
            child => child,
        }
    };
    let child = rustix::process::Pid::from_raw(child).filter(|_| child > 0);
    let child = child.ok_or_else(io::Error::last_os_error)?;
    rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty())?;
    Ok(())
}
