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

/// Forks a process that executes `program` without arguments and with an empty environment, and waits for it; gives its
/// exit code, 127 where it cannot be executed.
///
/// # Errors
/// The refusal: too many processes, or too little memory.
///
/// [`execve(2)`](https://man7.org/linux/man-pages/man2/execve.2.html)
pub fn fork_exec_and_wait(program: &std::ffi::CStr) -> io::Result<i32> {
    let arguments = [program.as_ptr(), std::ptr::null()];
    let environment = [std::ptr::null()];
    // SAFETY: the child makes two async-signal-safe calls, with memory that was prepared before the fork, and does not
    // return.
    let child = unsafe {
        match libc::fork() {
            0 => {
                libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
                libc::_exit(127)
            }
            child => child,
        }
    };
    let child = rustix::process::Pid::from_raw(child).filter(|_| child > 0);
    let child = child.ok_or_else(io::Error::last_os_error)?;
    let status = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty())?;
    Ok(status.and_then(|(_, status)| status.exit_status()).unwrap_or(-1))
}

/// A process with a copy of this one's memory that sleeps until it is dropped.
#[derive(Debug)]
pub struct SleepingChild(rustix::process::Pid);

impl SleepingChild {
    /// Forks it. It ends with the calling thread as well, however that ends.
    ///
    /// # Errors
    /// The refusal: too many processes, or too little memory.
    ///
    /// [`fork(2)`](https://man7.org/linux/man-pages/man2/fork.2.html)
    pub fn fork() -> io::Result<SleepingChild> {
        let parent = rustix::process::getpid().as_raw_nonzero().get();
        // SAFETY: the child makes only async-signal-safe calls, and does not return.
        let child = unsafe {
            match libc::fork() {
                0 => {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    // The parent may have ended before.
                    while libc::getppid() == parent {
                        libc::pause();
                    }
                    libc::_exit(0)
                }
                child => child,
            }
        };
        let child = rustix::process::Pid::from_raw(child).filter(|_| child > 0);
        child.map(SleepingChild).ok_or_else(io::Error::last_os_error)
    }
}

impl Drop for SleepingChild {
    fn drop(&mut self) {
        // Both can only fail if it is gone already.
        let _ = rustix::process::kill_process(self.0, Signal::KILL);
        let _ = rustix::process::waitpid(Some(self.0), rustix::process::WaitOptions::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_executed_and_its_exit_code_known() {
        assert_eq!(fork_exec_and_wait(c"/bin/false").expect("a process"), 1);
        assert_eq!(fork_exec_and_wait(c"/no/such/program").expect("a process"), 127);
    }

    #[test]
    fn a_sleeping_child_is_gone_when_it_is_dropped() {
        let child = SleepingChild::fork().expect("a process");
        let path = format!("/proc/{}/stat", child.0.as_raw_nonzero());
        assert!(std::path::Path::new(&path).exists());
        drop(child);
        assert!(!std::path::Path::new(&path).exists());
    }
}
