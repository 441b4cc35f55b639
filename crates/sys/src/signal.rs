//! Real-time signals, which queue: blocked, sent, and dropped again. No handler is ever installed.

use crate::SysError;

/// The first real-time signal, of this process or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedSignal(i32);

impl QueuedSignal {
    /// Blocks the signal in the calling thread, and in threads that it starts later, so that signals to this thread stay queued.
    ///
    /// # Errors
    /// None that `pthread_sigmask(3)` documents for this use.
    ///
    /// [`pthread_sigmask(3)`](https://man7.org/linux/man-pages/man3/pthread_sigmask.3.html)
    pub fn block() -> Result<QueuedSignal, SysError> {
        let signal = libc::SIGRTMIN();
        let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigemptyset initialises the set, which the other calls then read; the old mask is not asked for.
        let error = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), signal);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut())
        };
        if error != 0 {
            return Err(SysError::new("pthread_sigmask", format!("SIG_BLOCK {signal}"), error));
        }
        Ok(QueuedSignal(signal))
    }

    /// Queues one signal for the calling thread.
    ///
    /// # Errors
    /// `EAGAIN` when RLIMIT_SIGPENDING is reached.
    ///
    /// [`tgkill(2)`](https://man7.org/linux/man-pages/man2/tgkill.2.html)
    pub fn queue(self) -> Result<(), SysError> {
        let (process, thread) = (std::process::id(), crate::gettid().0);
        // SAFETY: tgkill takes no pointer; the signal is blocked in this thread and only queues.
        let result = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, self.0) };
        if result < 0 {
            return Err(SysError::last("tgkill", format!("signal {} for this thread", self.0)));
        }
        Ok(())
    }

    /// Drops all queued signals of this process, by ignoring the signal for a moment.
    ///
    /// # Errors
    /// None that `sigaction(2)` documents for a real-time signal.
    ///
    /// [`sigaction(2)`](https://man7.org/linux/man-pages/man2/sigaction.2.html)
    pub fn drop_queued(self) -> Result<(), SysError> {
        for disposition in [libc::SIG_IGN, libc::SIG_DFL] {
            // SAFETY: neither disposition is a function to be called.
            if unsafe { libc::signal(self.0, disposition) } == libc::SIG_ERR {
                return Err(SysError::last("signal", format!("disposition {disposition} of {}", self.0)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> u64 {
        let path = format!("/proc/self/task/{}/status", crate::gettid());
        let status = std::fs::read_to_string(path).expect("status");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigPnd:")).expect("SigPnd");
        u64::from_str_radix(mask.trim(), 16).expect("a mask")
    }

    #[test]
    fn a_blocked_signal_waits_and_is_dropped() {
        std::thread::spawn(|| {
            let signal = QueuedSignal::block().expect("block");
            assert_eq!(pending(), 0);
            signal.queue().expect("queue");
            assert_eq!(pending(), 1 << (libc::SIGRTMIN() - 1));
            signal.drop_queued().expect("drop");
            assert_eq!(pending(), 0);
        })
        .join()
        .expect("thread");
    }
}
