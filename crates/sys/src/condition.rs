//! A count that threads wait for, with the C library's mutex and condition variable, as most programs use them.

use crate::SysError;
use std::cell::UnsafeCell;

/// A count behind a mutex, and the condition variable that signals a change.
///
/// [`pthread_cond_wait(3p)`](https://man7.org/linux/man-pages/man3/pthread_cond_wait.3p.html)
#[derive(Debug)]
pub struct Condition(Box<Inner>);

/// Boxed: neither a mutex nor a condition variable may move.
#[derive(Debug)]
struct Inner {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    changed: UnsafeCell<libc::pthread_cond_t>,
    /// Accessed only with the mutex held.
    count: UnsafeCell<u32>,
}

// SAFETY: the pthread functions may be called from any thread, and the count is only touched under the mutex.
unsafe impl Send for Condition {}
// SAFETY: as above.
unsafe impl Sync for Condition {}

impl Default for Condition {
    fn default() -> Self {
        Condition(Box::new(Inner {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            changed: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
            count: UnsafeCell::new(0),
        }))
    }
}

impl Condition {
    /// Adds one to the count; wakes no thread yet.
    ///
    /// # Errors
    /// None that `pthread_mutex_lock(3p)` documents for this use.
    pub fn advance(&self) -> Result<(), SysError> {
        self.lock()?;
        // SAFETY: the mutex is held.
        unsafe { *self.0.count.get() = (*self.0.count.get()).wrapping_add(1) };
        self.unlock()
    }

    /// Wakes one thread that waits.
    ///
    /// # Errors
    /// None that `pthread_cond_signal(3p)` documents for this use.
    pub fn signal(&self) -> Result<(), SysError> {
        // SAFETY: the condition variable is initialised and does not move.
        check("pthread_cond_signal", unsafe { libc::pthread_cond_signal(self.0.changed.get()) })
    }

    /// Sleeps until the count is no longer `seen`, and returns it.
    ///
    /// Allocates nothing unless it fails.
    ///
    /// # Errors
    /// None that `pthread_cond_wait(3p)` documents for this use.
    pub fn wait_beyond(&self, seen: u32) -> Result<u32, SysError> {
        self.lock()?;
        loop {
            // SAFETY: the mutex is held: before the first look by `lock`, afterwards by `pthread_cond_wait`.
            let count = unsafe { *self.0.count.get() };
            if count != seen {
                self.unlock()?;
                return Ok(count);
            }
            // SAFETY: both are initialised and do not move, and this thread holds the mutex.
            let waited = unsafe { libc::pthread_cond_wait(self.0.changed.get(), self.0.mutex.get()) };
            check("pthread_cond_wait", waited)?;
        }
    }

    fn lock(&self) -> Result<(), SysError> {
        // SAFETY: the mutex is initialised and does not move.
        check("pthread_mutex_lock", unsafe { libc::pthread_mutex_lock(self.0.mutex.get()) })
    }

    fn unlock(&self) -> Result<(), SysError> {
        // SAFETY: the mutex is initialised, does not move, and is held by this thread.
        check("pthread_mutex_unlock", unsafe { libc::pthread_mutex_unlock(self.0.mutex.get()) })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: no other reference can exist any more, so no thread waits and no thread holds the mutex.
        unsafe {
            libc::pthread_cond_destroy(self.changed.get());
            libc::pthread_mutex_destroy(self.mutex.get());
        }
    }
}

fn check(call: &'static str, error: libc::c_int) -> Result<(), SysError> {
    if error == 0 { Ok(()) } else { Err(SysError::new(call, "a condition of this process", error)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_sees_every_change() {
        let condition = Condition::default();
        condition.advance().expect("advance");
        assert_eq!(condition.wait_beyond(0).expect("changed already"), 1);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| condition.wait_beyond(1).expect("wait"));
            condition.advance().expect("advance");
            condition.signal().expect("signal");
            assert_eq!(waiter.join().expect("thread"), 2);
        });
    }
}
