//! The periodic thread, and the log of its jobs.

use crate::behaviours::Behaviours;
use serde::{Deserialize, Serialize};
use whylate_base::Ns;
use whylate_sys::{Clock, now, sleep_until};

/// The fault of a job, by whylate's cause codes, where one run has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Why {
    OwnWork,
    HigherPriorityTask,
    EqualPriorityTask,
    LockWait,
    /// None of the run's: in the host's time the host may have delayed it.
    Nothing,
}

/// One job, on CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobRecord {
    /// When it should have started.
    pub(crate) due: Ns,
    /// When it started.
    pub(crate) start: Ns,
    /// When it was finished.
    pub(crate) done: Ns,
    /// Of several faults in one run, the one of this job.
    pub(crate) fault: Option<Why>,
}

impl JobRecord {
    /// A job of a run with one fault.
    pub(crate) fn new(due: Ns, start: Ns, done: Ns) -> JobRecord {
        JobRecord { due, start, done, fault: None }
    }
}

/// The jobs of one thread; it never grows while the thread runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Log {
    pub(crate) jobs: Vec<JobRecord>,
}

impl Log {
    /// With room for `jobs`.
    pub(crate) fn with_room(jobs: usize) -> Log {
        Log { jobs: Vec::with_capacity(jobs) }
    }

    /// Keeps `job`, unless there is no more room: a measuring thread must not allocate.
    pub(crate) fn push(&mut self, job: JobRecord) {
        if self.jobs.len() < self.jobs.capacity() {
            self.jobs.push(job);
        }
    }
}

/// When a periodic thread is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The first time.
    pub(crate) first: Ns,
    /// Then each.
    pub(crate) interval: Ns,
    /// No job is begun that is due at or after this instant.
    pub(crate) end: Ns,
    /// Its behaviours between jobs.
    pub(crate) behaviours: Behaviours,
}

impl Pace {
    /// The largest number of jobs.
    pub(crate) fn jobs(&self) -> usize {
        usize::try_from((self.end - self.first).0.max(0) / self.interval.0.max(1) + 1).unwrap_or(0)
    }

    /// The next due instant after `due` that has not passed at `time`: missed ones are skipped,
    /// so that one late job does not make the next ones late.
    fn next(&self, due: Ns, time: Ns) -> Ns {
        let interval = self.interval.0.max(1);
        let behind = time.since(due).0 / interval + 1;
        due + Ns(behind.saturating_mul(interval))
    }

    /// The period that `due` begins, counted from the first; a missed one counts as well.
    pub(crate) fn period(&self, due: Ns) -> u64 {
        (due.since(self.first).0 / self.interval.0.max(1)).unsigned_abs()
    }

    /// Sleeps to each due instant and does `job`, given its number.
    pub(crate) fn run(&self, mut job: impl FnMut(u64)) -> Log {
        let mut number = 0;
        self.run_by(sleep, |_| {
            job(number);
            number += 1;
        })
    }

    /// Waits for each due instant with `wait`, until that gives false, and does `job`, given the instant.
    pub(crate) fn run_by(&self, mut wait: impl FnMut(Ns) -> bool, mut job: impl FnMut(Ns)) -> Log {
        let mut log = Log::with_room(self.jobs());
        let mut behaviours = self.behaviours;
        let mut due = self.first;
        while due < self.end && wait(due) {
            let start = now(Clock::Monotonic);
            job(due);
            let done = now(Clock::Monotonic);
            log.push(JobRecord::new(due, start, done));
            behaviours.after_job(done);
            due = self.next(due, done);
        }
        // The last job ends with a sleep, as all others do: the end of the thread, which may have to take
        // down the memory of its process, is no part of it.
        sleep(due);
        log
    }
}

/// Sleeps until `due`; false when that cannot be.
pub(crate) fn sleep(due: Ns) -> bool {
    sleep_until(Clock::Monotonic, due).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_periods_are_skipped() {
        let pace = Pace { first: Ns(100), interval: Ns(10), end: Ns(200), behaviours: Behaviours::default() };
        for (time, next) in [(100, 110), (109, 110), (110, 120), (95, 110), (147, 150)] {
            assert_eq!(pace.next(Ns(100), Ns(time)), Ns(next), "at {time}");
        }
        assert_eq!(pace.jobs(), 11);
        for (due, period) in [(100, 0), (109, 0), (110, 1), (195, 9)] {
            assert_eq!(pace.period(Ns(due)), period, "at {due}");
        }
    }

    #[test]
    fn a_full_log_stays_as_it_is() {
        let mut log = Log::with_room(1);
        let room = log.jobs.capacity();
        for due in 0..room as i64 + 5 {
            log.push(JobRecord::new(Ns(due), Ns(due), Ns(due)));
        }
        assert_eq!(log.jobs.len(), room);
        assert_eq!(log.jobs.capacity(), room);
    }
}
