//! Signals that a program waits for instead of being interrupted by them.

use crate::SysError;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

/// Signals that are blocked for this thread, and that [`BlockedSignals::wait`] takes.
pub struct BlockedSignals {
    signals: libc::sigset_t,
    before: libc::sigset_t,
}

/// A signal that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedSignal {
    /// Its number.
    pub number: i32,
    /// Whether a process sent it to this process, by kill(2) or its like; the kernel sends those of the terminal to all
    /// processes of the foreground.
    pub by_process: bool,
}

impl BlockedSignals {
    /// Blocks signals, by their numbers.
    ///
    /// # Errors
    /// `EINVAL` for a number that is no signal.
    ///
    /// [`pthread_sigmask(3)`](https://man7.org/linux/man-pages/man3/pthread_sigmask.3.html)
    pub fn block(numbers: &[i32]) -> Result<BlockedSignals, SysError> {
        let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigemptyset initialises the set.
        let mut signals = unsafe {
            libc::sigemptyset(signals.as_mut_ptr());
            signals.assume_init()
        };
        for &number in numbers {
            // SAFETY: the set is initialised; a wrong number is refused.
            if unsafe { libc::sigaddset(&mut signals, number) } != 0 {
                return Err(SysError::last("sigaddset", format!("signal {number}")));
            }
        }
        let mut before = signals;
        // SAFETY: both sets live through the call.
        let result = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &signals, &mut before) };
        match result {
            0 => Ok(BlockedSignals { signals, before }),
            errno => Err(SysError::new("pthread_sigmask", "block signals", errno)),
        }
    }

    /// Sets the mask of before, as a child does before it executes a program.
    pub fn restore(&self) {
        // SAFETY: the set lives through the call, and none is asked for back.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, ptr::null_mut()) };
    }

    /// The next of the signals, or `None` after the timeout; without one it waits for ever.
    ///
    /// # Errors
    /// None that `sigtimedwait(2)` documents for these arguments.
    ///
    /// [`sigtimedwait(2)`](https://man7.org/linux/man-pages/man2/sigtimedwait.2.html)
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Option<ReceivedSignal>, SysError> {
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            // Less than 10^9, which a long of 32 bits holds.
            tv_nsec: timeout.subsec_nanos() as libc::c_long,
        });
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let limit = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the set, the information and the limit, if there is one, live through the call.
        let number = unsafe { libc::sigtimedwait(&self.signals, info.as_mut_ptr(), limit) };
        if number < 0 {
            let error = SysError::last("sigtimedwait", "wait for a signal");
            return match error.errno() {
                libc::EAGAIN | libc::EINTR => Ok(None),
                _ => Err(error),
            };
        }
        // SAFETY: zeroes are a valid value, and the call has written it.
        let info = unsafe { info.assume_init() };
        // sigaction(2): SI_USER, SI_QUEUE and SI_TKILL are not above 0, and what the kernel sends is.
        Ok(Some(ReceivedSignal { number, by_process: info.si_code <= 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_signal_is_taken_and_not_acted_upon() {
        let run = || {
            let signals = BlockedSignals::block(&[libc::SIGUSR2]).expect("blocked");
            assert_eq!(signals.wait(Some(Duration::ZERO)).expect("waited"), None);
            // SAFETY: the signal is blocked for this thread, which it is sent to.
            unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGUSR2) };
            let received = signals.wait(None).expect("waited");
            assert_eq!(received, Some(ReceivedSignal { number: libc::SIGUSR2, by_process: true }));
            signals.restore();
        };
        std::thread::spawn(run).join().expect("thread");
        assert_eq!(BlockedSignals::block(&[4711]).map(drop).map_err(|e| e.errno()), Err(libc::EINVAL));
    }
}
