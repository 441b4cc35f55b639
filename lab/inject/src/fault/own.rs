//! Faults that the victim makes itself, and the run without any.

use super::{start_plain_victim, victim};
use crate::crew::{Crew, Role};
use crate::periodic::{Job, Log};
use crate::setup::Setup;
use anyhow::Result;
use rustix::thread::nanosleep;
use rustix::time::Timespec;
use whylate_base::Ns;
use whylate_sys::{Clock, SchedParams, now, set_timer_slack, sleep_until};

pub(super) fn nothing(setup: &Setup) -> Result<Crew> {
    let mut crew = Crew::new(true)?;
    start_plain_victim(&mut crew, setup, victim(setup))?;
    Ok(crew)
}

/// One job in several takes for longer than a period.
pub(super) fn overrun(setup: &Setup) -> Result<Crew> {
    let mut crew = Crew::new(true)?;
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    let (per_fault, long) = (setup.jobs_per_fault(), setup.burst(setup.interval + Ns(setup.interval.0 / 4)));
    crew.start(victim(setup), move || {
        pace.run(|number| spin.work(if number % per_fault == per_fault / 2 { long } else { job }))
    })?;
    Ok(crew)
}

/// Sleeps for a period after each job instead of until the next one is due, so that the
/// job's own time and every delay add up.
pub(super) fn relative_sleep(setup: &Setup) -> Result<Crew> {
    let mut crew = Crew::new(true)?;
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    crew.start(victim(setup), move || {
        let mut log = Log::with_room(pace.jobs());
        let period =
            Timespec { tv_sec: pace.interval.0 / 1_000_000_000, tv_nsec: pace.interval.0 % 1_000_000_000 };
        let mut due = pace.first;
        if sleep_until(Clock::Monotonic, due).is_err() {
            return log;
        }
        while now(Clock::Monotonic) < pace.end {
            let start = now(Clock::Monotonic);
            spin.work(job);
            log.push(Job { due, start, done: now(Clock::Monotonic) });
            // Nothing here handles a signal, and a shorter sleep would only be an earlier job.
            let _ = nanosleep(&period);
            due += pace.interval;
        }
        log
    })?;
    Ok(crew)
}

/// A SCHED_OTHER thread's sleep may be longer by its timer slack (prctl(2), 50 us by default).
pub(super) fn timer_slack(setup: &Setup, slack: Ns) -> Result<Crew> {
    let mut crew = Crew::new(true)?;
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    crew.start(Role { sched: SchedParams::OTHER, ..victim(setup) }, move || {
        set_timer_slack(slack).map_or_else(|_| Log::default(), |()| pace.run(|_| spin.work(job)))
    })?;
    Ok(crew)
}
