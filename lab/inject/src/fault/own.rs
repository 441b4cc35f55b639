//! Faults that the victim makes itself, and the run without any.

use super::start::{start_plain_victim, victim};
use crate::periodic::{JobRecord, Log};
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use anyhow::{Context, Result};
use rustix::thread::nanosleep;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use whylate_base::Ns;
use whylate_sys::{Clock, SchedParams, now, set_timer_slack, sleep_until};

pub(super) fn nothing(setup: &Setup) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}

/// One job in several takes for longer than a period.
pub(super) fn overrun(setup: &Setup) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    let (per_fault, long) = (setup.jobs_per_fault(), setup.burst(setup.interval + Ns(setup.interval.0 / 4)));
    threads.start(victim(setup), move || {
        pace.run(|number| spin.work(if number % per_fault == per_fault / 2 { long } else { job }))
    })?;
    Ok(threads)
}

/// Sleeps for a period after each job instead of until the next one is due, so that the
/// job's own time and every delay add up.
pub(super) fn relative_sleep(setup: &Setup) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    threads.start(victim(setup), move || {
        let mut log = Log::with_room(pace.jobs());
        let mut behaviours = pace.behaviours;
        let period = timespec(pace.interval);
        let mut due = pace.first;
        if sleep_until(Clock::Monotonic, due).is_err() {
            return log;
        }
        while now(Clock::Monotonic) < pace.end {
            let start = now(Clock::Monotonic);
            spin.work(job);
            let done = now(Clock::Monotonic);
            log.push(JobRecord::new(due, start, done));
            behaviours.after_job(done);
            // Nothing here handles a signal, and a shorter sleep would only be an earlier job.
            let _ = nanosleep(&period);
            due += pace.interval;
        }
        log
    })?;
    Ok(threads)
}

/// A SCHED_OTHER thread's sleep may be longer by its timer slack (prctl(2), 50 us by default).
pub(super) fn timer_slack(setup: &Setup, slack: Ns) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    threads.start(ThreadSpec { sched: SchedParams::OTHER, ..victim(setup) }, move || {
        set_timer_slack(slack).map_or_else(|_| Log::default(), |()| pace.run(|_| spin.work(job)))
    })?;
    Ok(threads)
}

/// Story C: a timerfd in step with the tick. A scheduler clock that advances by ticks charges the
/// thread a whole tick for each job that begins before one and ends after it, so `--phase` decides.
pub(super) fn coarse_clock(setup: &Setup) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).context("timerfd_create")?;
    let times = Itimerspec { it_interval: timespec(pace.interval), it_value: timespec(pace.first) };
    timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &times).context("timerfd_settime")?;
    threads.start(victim(setup), move || {
        pace.run_by(
            // A count of expiries that are past is read and waited on.
            |due| {
                let mut count = [0; 8];
                while rustix::io::read(&timer, &mut count).is_ok() {
                    if now(Clock::Monotonic) >= due {
                        return true;
                    }
                }
                false
            },
            |_| spin.work(job),
        )
    })?;
    Ok(threads)
}

fn timespec(time: Ns) -> Timespec {
    Timespec { tv_sec: time.0 / 1_000_000_000, tv_nsec: time.0 % 1_000_000_000 }
}
