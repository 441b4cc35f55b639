//! Several faults in one run; the label has the fault of each late job.

use super::locks::{Guarding, low, use_lock};
use super::start::{start_burst, victim};
use crate::periodic::{Log, Pace, Why, sleep};
use crate::role::{ProcessShare, Role};
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use anyhow::{Result, ensure};
use std::sync::{Arc, Mutex};
use whylate_base::Ns;
use whylate_sys::SchedParams;

/// In one period of several a job takes longer by itself; half of these periods later, a thread
/// of higher priority delays another job.
pub(super) fn two_causes(setup: &Setup) -> Result<Threads> {
    let per_fault = setup.jobs_per_fault();
    ensure!(per_fault >= 4, "--every must be at least four times --interval");
    let mut threads = Threads::new(setup, true)?;
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    let rogue_pace = setup.pace_before_victim(Ns::from_us(500));
    // The lead is less than a period, so this is the period before the delayed job.
    let rogue = (pace.period(rogue_pace.first) + 1) % per_fault;
    let own = (rogue + per_fault / 2) % per_fault;

    let sched = SchedParams::fifo((setup.priority + 9).min(99));
    let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("rogue-high"), sched, setup.cpu);
    start_burst(&mut threads, setup, spec, rogue_pace, setup.burst(Ns(setup.interval.0 * 3 / 10)))?;

    let long = job + Ns(setup.interval.0 / 2);
    threads.start(victim(setup), move || {
        let log = pace.run_by(sleep, |due| {
            spin.work(if pace.period(due) % per_fault == own { long } else { job });
        });
        blame(log, |due| match pace.period(due) % per_fault {
            turn if turn == own => Some(Why::OwnWork),
            turn if turn == rogue => Some(Why::HigherPriorityTask),
            _ => None,
        })
    })?;
    Ok(threads)
}

/// Writes into each job which fault it is to show.
fn blame(mut log: Log, why: impl Fn(Ns) -> Option<Why>) -> Log {
    for job in &mut log.jobs {
        job.fault = why(job.due);
    }
    log
}

/// Two victims of one priority, half a period apart on one CPU: before the first is due a
/// peer begins a burst, before the second a lower thread takes its lock.
pub(super) fn two_victims(setup: &Setup) -> Result<Threads> {
    ensure!(
        setup.share == ProcessShare::Everyone,
        "--fork-exec: two-victims has two victims, and its lock works only between threads"
    );
    let mut threads = Threads::new(setup, true)?;
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    // The delay of one is over before the other is due.
    let part_of_interval = |percent: i64| Ns(setup.interval.0 / 100 * percent);

    let peer = ThreadSpec::new(
        Role::Culprit,
        setup.culprit_name("peer"),
        SchedParams::fifo(setup.priority),
        setup.cpu,
    );
    let before_first = setup.pace_before_victim(part_of_interval(5));
    start_burst(&mut threads, setup, peer, before_first, setup.burst(part_of_interval(35)))?;
    threads.start(victim(setup), move || {
        blame(pace.run(|_| spin.work(job)), |_| Some(Why::EqualPriorityTask))
    })?;

    let lock = Arc::new(Mutex::new(()));
    let offset = part_of_interval(50);
    let before_second = setup.pace_before_victim(part_of_interval(10));
    let before_second = Pace { first: before_second.first + offset, ..before_second };
    let (owners, section) = (Arc::clone(&lock), setup.burst(part_of_interval(35)));
    let owner = ThreadSpec::new(Role::Culprit, setup.culprit_name("owner"), low(setup), setup.cpu);
    threads.start(owner, move || before_second.run(|_| owners.hold(|| spin.work(section))))?;
    let second = Pace { first: pace.first + offset, ..pace };
    let half = Ns(job.0 / 2);
    let spec = ThreadSpec { name: setup.name("victim-2"), ..victim(setup) };
    threads
        .start(spec, move || blame(second.run(|_| use_lock(&*lock, spin, half)), |_| Some(Why::LockWait)))?;
    Ok(threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::periodic::JobRecord;

    #[test]
    fn each_job_is_blamed_by_its_due_instant() {
        let jobs = (0..4).map(|n| JobRecord::new(Ns(n * 10), Ns(0), Ns(0))).collect();
        let log = blame(Log { jobs }, |due| (due.0 % 20 == 10).then_some(Why::LockWait));
        let faults: Vec<_> = log.jobs.iter().map(|job| job.fault).collect();
        assert_eq!(faults, [None, Some(Why::LockWait), None, Some(Why::LockWait)]);
    }
}
