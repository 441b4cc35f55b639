//! Timed sleeps: by `clock_nanosleep`, or by periodic timers of the kernel that are read or waited for.

use super::pace::{Meter, Pace};
use crate::Timer;
use crate::sampler::Sampler;
use std::sync::atomic::Ordering::Relaxed;
use whylate_base::Ns;
use whylate_sys::{Clock, SignalTimer, SysError, TimerFd};

pub(crate) fn make(timer: Timer) -> Result<Box<dyn Meter>, SysError> {
    Ok(match timer {
        Timer::Nanosleep => Box::new(Sleep { pace: Pace::NONE }),
        Timer::Timerfd => Box::new(Periodic { timer: TimerFd::new()?, pace: Pace::NONE }),
        Timer::Signal => Box::new(Periodic { timer: SignalTimer::new()?, pace: Pace::NONE }),
    })
}

struct Sleep {
    pace: Pace,
}

impl Meter for Sleep {
    fn start(&mut self, pace: Pace) -> Result<(), SysError> {
        self.pace = pace;
        Ok(())
    }

    #[inline]
    fn round(&mut self, sampler: &mut Sampler) -> Result<(), SysError> {
        let due = self.pace.due();
        sampler.recorder.due.store(due.0, Relaxed);
        whylate_sys::sleep_until(Clock::Monotonic, due)?;
        let woken = whylate_sys::now(Clock::Monotonic);
        sampler.sample(due, woken);
        sampler.recorder.miss(self.pace.next(woken));
        Ok(())
    }
}

/// A timer that the kernel starts again by itself.
trait Source {
    fn arm(&self, first: Ns, interval: Ns) -> Result<(), SysError>;
    /// Sleeps until it has expired; gives how often.
    fn wait(&self) -> Result<u64, SysError>;
}

impl Source for TimerFd {
    fn arm(&self, first: Ns, interval: Ns) -> Result<(), SysError> {
        TimerFd::arm(self, first, interval)
    }
    fn wait(&self) -> Result<u64, SysError> {
        TimerFd::wait(self)
    }
}

impl Source for SignalTimer {
    fn arm(&self, first: Ns, interval: Ns) -> Result<(), SysError> {
        SignalTimer::arm(self, first, interval)
    }
    fn wait(&self) -> Result<u64, SysError> {
        SignalTimer::wait(self)
    }
}

struct Periodic<T> {
    timer: T,
    pace: Pace,
}

impl<T: Source> Meter for Periodic<T> {
    fn start(&mut self, pace: Pace) -> Result<(), SysError> {
        self.pace = pace;
        self.timer.arm(pace.first, pace.interval)
    }

    #[inline]
    fn round(&mut self, sampler: &mut Sampler) -> Result<(), SysError> {
        let due = self.pace.due();
        sampler.recorder.due.store(due.0, Relaxed);
        let expired = self.timer.wait()?;
        let woken = whylate_sys::now(Clock::Monotonic);
        if woken < due {
            // A signal of the warm-up's rhythm, queued before the timer was armed anew.
            return Ok(());
        }
        sampler.sample(due, woken);
        // Which periods the kernel counted, not which have passed by the clock: one may expire in between.
        let expired = i64::try_from(expired).unwrap_or(i64::MAX).max(1);
        self.pace.skip(expired);
        sampler.recorder.miss(expired - 1);
        Ok(())
    }
}
