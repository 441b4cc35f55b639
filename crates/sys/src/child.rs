//! Programs that must not outlive the one that started them.

use rustix::process::{Signal, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has the kernel kill the program with SIGKILL when the thread that started it ends, however it
/// ends.
///
/// It is the thread, not the process: start it from one that waits for it.
///
/// [`PR_SET_PDEATHSIG(2const)`](https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html)
pub fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let set = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may be gone already, and then nobody sends the signal.
        match rustix::process::getppid() {
            Some(now) if now == parent => Ok(()),
            _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; `set` makes two
    // system calls, and allocates nothing.
    unsafe { command.pre_exec(set) };
}
