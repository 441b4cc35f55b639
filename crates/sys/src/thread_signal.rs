//! Signals for one thread, which waits for them: sent by another thread or by a periodic timer. No handler is ever
//! installed.

use crate::SysError;
use crate::clock::to_timespec;
use std::mem::MaybeUninit;
use whylate_base::{Ns, Tid};

/// A real-time signal that is blocked in its receiving thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadSignal {
    signal: i32,
    thread: Tid,
}

impl ThreadSignal {
    /// Creates one for the calling thread, which waits for it later.
    ///
    /// # Errors
    /// None that `pthread_sigmask(3)` documents for this use.
    ///
    /// [`pthread_sigmask(3)`](https://man7.org/linux/man-pages/man3/pthread_sigmask.3.html)
    pub fn block() -> Result<ThreadSignal, SysError> {
        // Not SIGRTMIN, which is [`QueuedSignal`](crate::QueuedSignal)'s.
        let signal = ThreadSignal { signal: libc::SIGRTMIN() + 1, thread: crate::gettid() };
        let set = signal.set();
        // SAFETY: the set is initialised; the old mask is not asked for.
        let error = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
        if error != 0 {
            return Err(SysError::new("pthread_sigmask", format!("SIG_BLOCK {}", signal.signal), error));
        }
        Ok(signal)
    }

    /// Sends it to its receiving thread.
    ///
    /// # Errors
    /// `EAGAIN` when RLIMIT_SIGPENDING is reached; `ESRCH` when the thread is gone.
    ///
    /// [`tgkill(2)`](https://man7.org/linux/man-pages/man2/tgkill.2.html)
    pub fn send(self) -> Result<(), SysError> {
        // SAFETY: tgkill takes no pointer; the signal is blocked in that thread and only queues there.
        let result =
            unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), self.thread.0, self.signal) };
        if result < 0 {
            return Err(SysError::last("tgkill", format!("signal {} for {}", self.signal, self.thread)));
        }
        Ok(())
    }

    /// Sleeps until the signal arrives. Call it in the receiving thread.
    ///
    /// Allocates nothing unless it fails.
    ///
    /// # Errors
    /// None that `sigwaitinfo(2)` documents for this use.
    ///
    /// [`sigwaitinfo(2)`](https://man7.org/linux/man-pages/man2/sigwaitinfo.2.html)
    pub fn wait(self) -> Result<(), SysError> {
        let set = self.set();
        loop {
            // SAFETY: the set is initialised; what the signal carries is not asked for.
            if unsafe { libc::sigwaitinfo(&raw const set, std::ptr::null_mut()) } >= 0 {
                return Ok(());
            }
            let error = SysError::last("sigwaitinfo", "a signal for this thread");
            if error.errno() != libc::EINTR {
                return Err(error);
            }
        }
    }

    fn set(self) -> libc::sigset_t {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigemptyset initialises the set, and sigaddset changes it.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), self.signal);
            set.assume_init()
        }
    }
}

/// A periodic timer of CLOCK_MONOTONIC that sends a [`ThreadSignal`].
#[derive(Debug)]
pub struct SignalTimer {
    id: libc::timer_t,
    signal: ThreadSignal,
}

impl SignalTimer {
    /// Creates a timer for the calling thread, not armed yet.
    ///
    /// # Errors
    /// `EAGAIN` when RLIMIT_SIGPENDING is reached: a timer reserves its signal.
    ///
    /// [`timer_create(2)`](https://man7.org/linux/man-pages/man2/timer_create.2.html)
    pub fn new() -> Result<SignalTimer, SysError> {
        let signal = ThreadSignal::block()?;
        // SAFETY: all-zero bytes are a valid `sigevent` (integers and a pointer that may be null).
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal.signal;
        event.sigev_notify_thread_id = signal.thread.0;
        let mut id = MaybeUninit::<libc::timer_t>::uninit();
        // SAFETY: the event is filled in, and `id` has room for what the call writes.
        let result = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, id.as_mut_ptr()) };
        if result < 0 {
            return Err(SysError::last("timer_create", "CLOCK_MONOTONIC, a signal for this thread"));
        }
        // SAFETY: the call succeeded and has written it.
        Ok(SignalTimer { id: unsafe { id.assume_init() }, signal })
    }

    /// Arms it: it expires at `first`, then every `interval`.
    ///
    /// # Errors
    /// `EINVAL` for a time before the clock's origin.
    ///
    /// [`timer_settime(2)`](https://man7.org/linux/man-pages/man2/timer_settime.2.html)
    pub fn arm(&self, first: Ns, interval: Ns) -> Result<(), SysError> {
        let time = |ns| {
            let time = to_timespec(ns);
            libc::timespec { tv_sec: time.tv_sec as _, tv_nsec: time.tv_nsec as _ }
        };
        let times = libc::itimerspec { it_value: time(first), it_interval: time(interval) };
        // SAFETY: the timer is this one's own, the times live through the call, the old ones are not asked for.
        let result = unsafe {
            libc::timer_settime(self.id, libc::TIMER_ABSTIME, &raw const times, std::ptr::null_mut())
        };
        if result < 0 {
            return Err(SysError::last("timer_settime", format!("at {} ns, every {interval}", first.0)));
        }
        Ok(())
    }

    /// Sleeps until its signal arrives; returns the number of expiries since the last call, at least 1. Call it in
    /// the thread that made it.
    ///
    /// Allocates nothing unless it fails.
    ///
    /// # Errors
    /// None that `sigwaitinfo(2)` and `timer_getoverrun(2)` document for this use.
    ///
    /// [`timer_getoverrun(2)`](https://man7.org/linux/man-pages/man2/timer_getoverrun.2.html)
    pub fn wait(&self) -> Result<u64, SysError> {
        self.signal.wait()?;
        // SAFETY: the timer is this one's own.
        let overrun = unsafe { libc::timer_getoverrun(self.id) };
        match u64::try_from(overrun) {
            Ok(overrun) => Ok(overrun + 1),
            Err(_) => Err(SysError::last("timer_getoverrun", "a timer of this thread")),
        }
    }
}

impl Drop for SignalTimer {
    fn drop(&mut self) {
        // SAFETY: the timer is this one's own, and nothing uses it afterwards.
        unsafe { libc::timer_delete(self.id) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, now};

    #[test]
    fn a_timers_signals_are_counted_and_never_early() {
        std::thread::spawn(|| {
            let timer = SignalTimer::new().expect("timer");
            let (first, interval) = (now(Clock::Monotonic) + Ns::from_us(300), Ns::from_us(200));
            timer.arm(first, interval).expect("arm");
            let mut expired = 0;
            while expired < 3 {
                expired += timer.wait().expect("wait");
                assert!(now(Clock::Monotonic) >= first + Ns(interval.0 * (expired as i64 - 1)));
            }
        })
        .join()
        .expect("thread");
    }

    #[test]
    fn a_signal_reaches_the_thread_it_is_for() {
        let (give, get) = std::sync::mpsc::channel();
        let waiter = std::thread::spawn(move || {
            let signal = ThreadSignal::block().expect("block");
            give.send(signal).expect("the other thread");
            signal.wait().expect("wait");
        });
        get.recv().expect("the signal").send().expect("send");
        waiter.join().expect("thread");
    }
}
