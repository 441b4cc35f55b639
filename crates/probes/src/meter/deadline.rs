//! The periods of a SCHED_DEADLINE thread: when does each begin, and is its work done by the deadline?

use super::pace::{Meter, Pace};
use crate::sampler::Sampler;
use std::sync::atomic::Ordering::Relaxed;
use whylate_base::Ns;
use whylate_sys::{Clock, SysError};

pub(crate) struct Deadline {
    /// CPU time to be used in each period: half of what is promised, so that the thread itself never uses it up.
    work: Ns,
    /// `None`: the period's end.
    deadline: Option<Ns>,
    pace: Pace,
}

impl Deadline {
    pub(crate) fn new(runtime: Ns, deadline: Option<Ns>) -> Deadline {
        Deadline { work: Ns(runtime.0 / 2), deadline, pace: Pace::NONE }
    }

    /// Works its share, until the period is over at the latest; gives when it ended.
    fn work(&self, due: Ns) -> Ns {
        // The warm-up's periods follow faster than runtime is promised for.
        let work = if self.pace.warm_up { Ns::ZERO } else { self.work };
        let done = whylate_sys::thread_cpu_time() + work;
        while whylate_sys::thread_cpu_time() < done {
            if whylate_sys::now(Clock::Monotonic) - due > self.pace.interval {
                break;
            }
        }
        whylate_sys::now(Clock::Monotonic)
    }
}

impl Meter for Deadline {
    fn start(&mut self, pace: Pace) -> Result<(), SysError> {
        self.pace = pace;
        Ok(())
    }

    fn round(&mut self, sampler: &mut Sampler) -> Result<(), SysError> {
        let due = self.pace.due();
        sampler.recorder.due.store(due.0, Relaxed);
        whylate_sys::sleep_until(Clock::Monotonic, due)?;
        let woken = whylate_sys::now(Clock::Monotonic);
        sampler.sample_on(whylate_sys::current_cpu(), due, woken);
        let ended = self.work(due);
        if ended - due > self.deadline.unwrap_or(self.pace.interval) {
            sampler.recorder.spoil();
        }
        sampler.recorder.miss(self.pace.next(ended));
        Ok(())
    }
}
