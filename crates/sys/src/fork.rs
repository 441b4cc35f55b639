//! Forks that go on in this program's own code: possible where no other thread could hold a lock meanwhile.

use crate::SysError;
use rustix::process::Pid;
use std::time::Duration;

/// A thread that was joined may still be on its way out of the kernel: so often it is looked again.
const LOOKS: u32 = 200;
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(1);

/// Forks a process that runs `child` and ends with the exit code that it returns.
///
/// # Errors
/// `EAGAIN`: this process has other threads, one of which may hold a lock that the child would then wait for in vain, or
/// there are too many processes; `ENOMEM`: too little memory.
///
/// [`fork(2)`](https://man7.org/linux/man-pages/man2/fork.2.html)
pub fn fork_single_threaded(child: impl FnOnce() -> i32) -> Result<Pid, SysError> {
    if !is_single_threaded() {
        return Err(SysError::new("fork", "this process has several threads", libc::EAGAIN));
    }
    // SAFETY: no other thread exists, so every lock is free in the child, which may go on as this process would.
    match unsafe { libc::fork() } {
        0 => {
            let code = child();
            // SAFETY: ends the process; the parent's buffers and destructors are left to the parent.
            unsafe { libc::_exit(code) }
        }
        pid => Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(|| SysError::last("fork", "a program")),
    }
}

fn is_single_threaded() -> bool {
    let threads = || std::fs::read_dir("/proc/self/task").map_or(usize::MAX, Iterator::count);
    (0..LOOKS).any(|look| {
        if look > 0 {
            std::thread::sleep(PAUSE);
        }
        threads() == 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_is_not_forked() {
        // The tests' own threads are others.
        let error = fork_single_threaded(|| 0).expect_err("the test harness has threads");
        assert_eq!(error.errno(), libc::EAGAIN);
    }
}
