//! Sleeping on a word of memory, and the lock with priority inheritance.

use crate::SysError;
use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use std::sync::atomic::{AtomicU32, Ordering};

/// Sleeps while `word` is `value`; spurious wake-ups are possible, see `futex(2)`.
///
/// Allocates nothing unless it fails.
///
/// # Errors
/// None that `futex(2)` documents for a word of this process.
///
/// [`FUTEX_WAIT(2const)`](https://man7.org/linux/man-pages/man2/FUTEX_WAIT.2const.html)
pub fn futex_wait(word: &AtomicU32, value: u32) -> Result<(), SysError> {
    match futex::wait(word, Flags::PRIVATE, value, None) {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
        Err(errno) => Err(SysError::new("futex", "FUTEX_WAIT", errno.raw_os_error())),
    }
}

/// Wakes one thread that sleeps on `word`; returns whether there was one.
///
/// # Errors
/// None that `futex(2)` documents for a word of this process.
///
/// [`FUTEX_WAKE(2const)`](https://man7.org/linux/man-pages/man2/FUTEX_WAKE.2const.html)
pub fn futex_wake(word: &AtomicU32) -> Result<bool, SysError> {
    match futex::wake(word, Flags::PRIVATE, 1) {
        Ok(woken) => Ok(woken > 0),
        Err(errno) => Err(SysError::new("futex", "FUTEX_WAKE", errno.raw_os_error())),
    }
}

/// A lock with priority inheritance, without data of its own: PTHREAD_PRIO_INHERIT's futex protocol.
///
/// [`FUTEX_LOCK_PI(2const)`](https://man7.org/linux/man-pages/man2/FUTEX_LOCK_PI.2const.html)
#[derive(Debug, Default)]
pub struct PiLock(AtomicU32);

impl PiLock {
    /// Takes the lock; sleeps while another thread holds it.
    ///
    /// # Errors
    /// `EDEADLK` when the calling thread holds it already; `ESRCH` when its owner is gone.
    pub fn lock(&self) -> Result<(), SysError> {
        if self.0.compare_exchange(0, own(), Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return Ok(());
        }
        loop {
            match futex::lock_pi(&self.0, Flags::PRIVATE, None) {
                Ok(()) => return Ok(()),
                // The owner was just ending, or a signal came.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(SysError::new("futex", "FUTEX_LOCK_PI", errno.raw_os_error())),
            }
        }
    }

    /// Releases the lock; the waiting thread of the highest priority gets it.
    ///
    /// # Errors
    /// `EPERM` when the calling thread does not hold it.
    pub fn unlock(&self) -> Result<(), SysError> {
        if self.0.compare_exchange(own(), 0, Ordering::Release, Ordering::Relaxed).is_ok() {
            return Ok(());
        }
        futex::unlock_pi(&self.0, Flags::PRIVATE)
            .map_err(|errno| SysError::new("futex", "FUTEX_UNLOCK_PI", errno.raw_os_error()))
    }
}

/// The word of a lock that this thread holds.
fn own() -> u32 {
    crate::gettid().0.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_word_is_not_slept_on_and_a_sleeper_is_woken() {
        let word = AtomicU32::new(1);
        futex_wait(&word, 0).expect("changed already");
        assert!(!futex_wake(&word).expect("no thread sleeps"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while word.load(Ordering::Acquire) == 1 {
                    futex_wait(&word, 1).expect("wait");
                }
            });
            word.store(2, Ordering::Release);
            futex_wake(&word).expect("wake");
        });
    }

    #[test]
    fn one_thread_at_a_time_has_the_lock() {
        let lock = PiLock::default();
        let shared = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        lock.lock().expect("lock");
                        let seen = shared.load(Ordering::Relaxed);
                        std::hint::spin_loop();
                        shared.store(seen + 1, Ordering::Relaxed);
                        lock.unlock().expect("unlock");
                    }
                });
            }
        });
        assert_eq!(shared.load(Ordering::Relaxed), 3_000);
    }

    #[test]
    fn the_owner_cannot_wait_for_itself_nor_a_stranger_unlock() {
        let lock = PiLock::default();
        lock.lock().expect("lock");
        assert_eq!(lock.lock().expect_err("own").errno(), libc::EDEADLK);
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(lock.unlock().expect_err("not its own").errno(), libc::EPERM));
        });
        lock.unlock().expect("unlock");
    }
}
