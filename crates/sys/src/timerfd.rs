//! A periodic timer with a file descriptor.

use crate::SysError;
use crate::clock::to_timespec;
use rustix::fd::OwnedFd;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};
use whylate_base::Ns;

/// A timer of CLOCK_MONOTONIC.
#[derive(Debug)]
pub struct TimerFd(OwnedFd);

impl TimerFd {
    /// Creates a timer, not armed yet.
    ///
    /// # Errors
    /// `EMFILE` or `ENFILE` when no descriptor is left.
    ///
    /// [`timerfd_create(2)`](https://man7.org/linux/man-pages/man2/timerfd_create.2.html)
    pub fn new() -> Result<TimerFd, SysError> {
        rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)
            .map(TimerFd)
            .map_err(|errno| SysError::new("timerfd_create", "CLOCK_MONOTONIC", errno.raw_os_error()))
    }

    /// Arms it: it expires at `first`, then every `interval`.
    ///
    /// # Errors
    /// `EINVAL` for a time before the clock's origin.
    ///
    /// [`timerfd_settime(2)`](https://man7.org/linux/man-pages/man2/timerfd_settime.2.html)
    pub fn arm(&self, first: Ns, interval: Ns) -> Result<(), SysError> {
        let times = Itimerspec { it_value: to_timespec(first), it_interval: to_timespec(interval) };
        rustix::time::timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &times).map(drop).map_err(
            |errno| {
                let tried = format!("at {} ns, every {interval}", first.0);
                SysError::new("timerfd_settime", tried, errno.raw_os_error())
            },
        )
    }

    /// Sleeps until it expires; returns the number of expiries since the last call, at least 1.
    ///
    /// Allocates nothing unless it fails.
    ///
    /// # Errors
    /// None that `timerfd_create(2)` documents for a blocking read of an armed timer.
    pub fn wait(&self) -> Result<u64, SysError> {
        crate::eventfd::read_count(&self.0, "an expiry of a timerfd")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, now};

    #[test]
    fn expiries_are_counted_and_never_early() {
        let timer = TimerFd::new().expect("timerfd");
        let first = now(Clock::Monotonic) + Ns::from_us(300);
        let interval = Ns::from_us(200);
        timer.arm(first, interval).expect("arm");
        let mut expired = 0;
        while expired < 3 {
            expired += timer.wait().expect("wait");
            assert!(now(Clock::Monotonic) >= first + Ns(interval.0 * (expired as i64 - 1)));
        }
        assert!(timer.arm(Ns(-1), interval).is_err());
    }
}
