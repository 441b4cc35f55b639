//! Faults of the victim's limits and rights.

use super::cpu::start_rivals;
use super::start::{start_plain_victim, victim};
use crate::cgroup::Group;
use crate::periodic::{JobRecord, Log};
use crate::role::ProcessShare;
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use anyhow::{Context, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::consts::SIGXCPU;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use whylate_base::Ns;
use whylate_sys::{Clock, SchedParams, now};

/// One job in several takes more than the quota of its control group, and what a period may
/// have left over of it. The group is this whole process': only the victim uses CPU time.
pub(super) fn quota(setup: &Setup, quota: Ns, period: Ns) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    if setup.share != ProcessShare::AllButVictim {
        let mut group = Group::with_quota(quota, period)?;
        group.enter()?;
        threads.keep(group);
    }
    let long = setup.burst(Ns(quota.0 * 3));
    let (pace, spin, job, per_fault) = (setup.pace(), setup.spin, setup.job, setup.jobs_per_fault());
    threads.start(ThreadSpec { sched: SchedParams::OTHER, ..victim(setup) }, move || {
        pace.run(|number| spin.work(if number % per_fault == per_fault / 2 { long } else { job }))
    })?;
    Ok(threads)
}

/// The victim's process lacks the right to SCHED_FIFO ([`crate::rights::Rights`]), and it
/// ignores the error.
pub(super) fn refused(setup: &Setup, rivals: usize) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    start_rivals(&mut threads, setup, rivals)?;
    start_plain_victim(&mut threads, setup, ThreadSpec { careless: true, ..victim(setup) })?;
    Ok(threads)
}

/// The job in the middle of the run never ends by itself.
pub(super) fn rttime(setup: &Setup, budget: Ns) -> Result<Threads> {
    /// From SIGXCPU to SIGKILL.
    const GRACE: Ns = Ns::from_ms(10);
    let mut threads = Threads::new(setup, true)?;
    if setup.share == ProcessShare::VictimOnly {
        let us = |time: Ns| Some((time.0 / 1_000).unsigned_abs());
        let limit = Rlimit { current: us(budget), maximum: us(budget + GRACE) };
        setrlimit(Resource::Rttime, limit).context("setrlimit(RLIMIT_RTTIME)")?;
        // Caught and ignored: otherwise SIGXCPU ends the process.
        signal_hook::flag::register(SIGXCPU, Arc::new(AtomicBool::new(false))).context("SIGXCPU")?;
    }
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    let fatal = setup.start + Ns(setup.end.since(setup.start).0 / 2);
    threads
        .start_killable(victim(setup), move |report| {
            let mut before = Log::with_room(pace.jobs());
            pace.run(|_| {
                let start = now(Clock::Monotonic);
                // Here each job is done in its period, except the last one.
                let due = pace.first + Ns(start.since(pace.first).0 / pace.interval.0 * pace.interval.0);
                if start < fatal {
                    spin.work(job);
                    before.push(JobRecord::new(due, start, now(Clock::Monotonic)));
                } else {
                    before.push(JobRecord::new(due, start, start));
                    // If the log cannot be printed there is no label either.
                    let _ = report(before.clone());
                    // Killed long before.
                    spin.work_until(start + Ns(10 * (budget + GRACE).0));
                }
            })
        })
        .map(|()| threads)
}
