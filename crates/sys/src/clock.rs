//! Clocks in nanoseconds, and sleeping to an instant of one.

use crate::SysError;
use rustix::time::{ClockId, Timespec};
use whylate_base::Ns;

/// A clock of `clock_gettime(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// CLOCK_MONOTONIC: what the trace clock `mono` shows.
    Monotonic,
    /// CLOCK_BOOTTIME: runs on in suspend; the trace clock `boot`.
    Boottime,
    /// CLOCK_REALTIME: the time of day, which may jump.
    Realtime,
}

impl Clock {
    fn id(self) -> ClockId {
        match self {
            Clock::Monotonic => ClockId::Monotonic,
            Clock::Boottime => ClockId::Boottime,
            Clock::Realtime => ClockId::Realtime,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Clock::Monotonic => "CLOCK_MONOTONIC",
            Clock::Boottime => "CLOCK_BOOTTIME",
            Clock::Realtime => "CLOCK_REALTIME",
        }
    }
}

/// The clock's time. Through the vDSO where the kernel has it there, so no system call.
///
/// [`clock_gettime(2)`](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)
pub fn now(clock: Clock) -> Ns {
    to_ns(rustix::time::clock_gettime(clock.id()))
}

/// Sleeps until `clock` shows `due` (TIMER_ABSTIME); returns at once if it already does.
/// A signal handler that runs meanwhile does not cut the sleep short.
///
/// Allocates nothing unless it fails.
///
/// # Errors
/// `EINVAL` for an instant before the clock's origin.
///
/// [`clock_nanosleep(2)`](https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html)
pub fn sleep_until(clock: Clock, due: Ns) -> Result<(), SysError> {
    let request = to_timespec(due);
    loop {
        match rustix::thread::clock_nanosleep_absolute(clock.id(), &request) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => {
                let tried = format!("until {} ns of {}", due.0, clock.name());
                return Err(SysError::new("clock_nanosleep", tried, errno.raw_os_error()));
            }
        }
    }
}

pub(crate) fn to_ns(time: Timespec) -> Ns {
    Ns(time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec))
}

pub(crate) fn to_timespec(time: Ns) -> Timespec {
    Timespec { tv_sec: time.0.div_euclid(1_000_000_000), tv_nsec: time.0.rem_euclid(1_000_000_000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_convert_both_ways() {
        for ns in [0, 1, 999_999_999, 1_000_000_000, 1_234_567_890_123, -1, -1_000_000_001] {
            assert_eq!(to_ns(to_timespec(Ns(ns))), Ns(ns));
            assert!((0..1_000_000_000).contains(&to_timespec(Ns(ns)).tv_nsec));
        }
    }

    #[test]
    fn a_sleep_never_ends_early() {
        for clock in [Clock::Monotonic, Clock::Boottime, Clock::Realtime] {
            let due = now(clock) + Ns::from_us(300);
            sleep_until(clock, due).expect("sleep");
            assert!(now(clock) >= due);
        }
        sleep_until(Clock::Monotonic, Ns(1)).expect("long past");
    }

    #[test]
    fn impossible_sleeps_are_refused() {
        let error = sleep_until(Clock::Monotonic, Ns(-1)).expect_err("before the origin");
        assert_eq!((error.call(), error.errno()), ("clock_nanosleep", libc::EINVAL));
    }
}
