//! The C library's mutexes and barriers, as most programs use them: without data of their own.

use crate::SysError;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// A mutex, with or without priority inheritance.
///
/// [`pthread_mutexattr_setprotocol(3p)`](https://man7.org/linux/man-pages/man3/pthread_mutexattr_setprotocol.3p.html)
#[derive(Debug)]
pub struct PthreadMutex(Box<UnsafeCell<libc::pthread_mutex_t>>);

// SAFETY: the pthread functions may be called from any thread, and there is no other access.
unsafe impl Send for PthreadMutex {}
// SAFETY: as above.
unsafe impl Sync for PthreadMutex {}

impl PthreadMutex {
    /// One that is not locked; with PTHREAD_PRIO_INHERIT if `inherits`.
    ///
    /// # Errors
    /// `ENOTSUP` on a system without priority inheritance.
    pub fn new(inherits: bool) -> Result<PthreadMutex, SysError> {
        let mut attributes = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
        let mutex = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        let protocol = if inherits { libc::PTHREAD_PRIO_INHERIT } else { libc::PTHREAD_PRIO_NONE };
        // SAFETY: the attributes are initialised before they are used and destroyed after; the mutex is boxed, so it does
        // not move.
        let error = unsafe {
            libc::pthread_mutexattr_init(attributes.as_mut_ptr());
            let refused = libc::pthread_mutexattr_setprotocol(attributes.as_mut_ptr(), protocol);
            let error = match refused {
                0 => libc::pthread_mutex_init(mutex.get(), attributes.as_ptr()),
                refused => refused,
            };
            libc::pthread_mutexattr_destroy(attributes.as_mut_ptr());
            error
        };
        check("pthread_mutex_init", error).map(|()| PthreadMutex(mutex))
    }

    /// Takes it; sleeps while another thread holds it.
    ///
    /// # Errors
    /// None that `pthread_mutex_lock(3p)` documents for this use.
    #[inline]
    pub fn lock(&self) -> Result<(), SysError> {
        // SAFETY: the mutex is initialised and does not move.
        check("pthread_mutex_lock", unsafe { libc::pthread_mutex_lock(self.0.get()) })
    }

    /// Releases it. Call it in the thread that holds it.
    ///
    /// # Errors
    /// `EPERM` of one with priority inheritance that another thread holds.
    #[inline]
    pub fn unlock(&self) -> Result<(), SysError> {
        // SAFETY: the mutex is initialised and does not move.
        check("pthread_mutex_unlock", unsafe { libc::pthread_mutex_unlock(self.0.get()) })
    }
}

impl Drop for PthreadMutex {
    fn drop(&mut self) {
        // SAFETY: no other reference can exist any more. One that is still locked stays undestroyed, which POSIX leaves
        // undefined and glibc answers with EBUSY.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}

/// A barrier for a number of threads.
///
/// [`pthread_barrier_wait(3p)`](https://man7.org/linux/man-pages/man3/pthread_barrier_wait.3p.html)
#[derive(Debug)]
pub struct PthreadBarrier(Box<UnsafeCell<MaybeUninit<libc::pthread_barrier_t>>>);

// SAFETY: the pthread functions may be called from any thread, and there is no other access.
unsafe impl Send for PthreadBarrier {}
// SAFETY: as above.
unsafe impl Sync for PthreadBarrier {}

impl PthreadBarrier {
    /// One that waits for so many threads.
    ///
    /// # Errors
    /// `EINVAL` for none.
    pub fn new(threads: u32) -> Result<PthreadBarrier, SysError> {
        let barrier = Box::new(UnsafeCell::new(MaybeUninit::uninit()));
        // SAFETY: the barrier is boxed, so it does not move; default attributes are asked for.
        let error =
            unsafe { libc::pthread_barrier_init((*barrier.get()).as_mut_ptr(), std::ptr::null(), threads) };
        check("pthread_barrier_init", error)?;
        Ok(PthreadBarrier(barrier))
    }

    /// Sleeps until all threads are here.
    ///
    /// # Errors
    /// None that `pthread_barrier_wait(3p)` documents for this use.
    #[inline]
    pub fn wait(&self) -> Result<(), SysError> {
        // SAFETY: `new` has initialised the barrier, and it does not move.
        match unsafe { libc::pthread_barrier_wait((*self.0.get()).as_mut_ptr()) } {
            libc::PTHREAD_BARRIER_SERIAL_THREAD => Ok(()),
            error => check("pthread_barrier_wait", error),
        }
    }
}

impl Drop for PthreadBarrier {
    fn drop(&mut self) {
        // SAFETY: `new` has initialised it, and no other reference can exist any more, so no thread waits.
        unsafe { libc::pthread_barrier_destroy((*self.0.get()).as_mut_ptr()) };
    }
}

fn check(call: &'static str, error: libc::c_int) -> Result<(), SysError> {
    if error == 0 { Ok(()) } else { Err(SysError::new(call, "an object of this process", error)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[test]
    fn one_thread_at_a_time_has_the_mutex() {
        for inherits in [false, true] {
            let mutex = PthreadMutex::new(inherits).expect("a mutex");
            let shared = AtomicU64::new(0);
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for _ in 0..1_000 {
                            mutex.lock().expect("lock");
                            let seen = shared.load(Relaxed);
                            std::hint::spin_loop();
                            shared.store(seen + 1, Relaxed);
                            mutex.unlock().expect("unlock");
                        }
                    });
                }
            });
            assert_eq!(shared.load(Relaxed), 3_000, "{inherits}");
        }
    }

    #[test]
    fn a_barrier_lets_all_threads_go_together() {
        assert!(PthreadBarrier::new(0).is_err());
        let barrier = PthreadBarrier::new(2).expect("a barrier");
        let arrived = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for round in 1..=100 {
                        arrived.fetch_add(1, Relaxed);
                        barrier.wait().expect("wait");
                        assert!(arrived.load(Relaxed) >= 2 * round);
                        barrier.wait().expect("wait");
                    }
                });
            }
        });
    }
}
