//! What one combination does to the chosen threads, and to the others.

use crate::engine::{Simulation, Tally};
use crate::model::Model;
use whylate_base::Ns;

/// A change of another thread by less is not notable.
const NOTABLE: Ns = Ns::from_us(10);
/// So many others are kept, those that lose the most first.
const OTHERS: usize = 3;

/// What one run shows of the chosen threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepOutcome {
    /// The chosen threads, in their order.
    pub threads: Vec<ThreadOutcome>,
    /// The others that lose the most against the run without the sweep's changes.
    pub others: Vec<OtherThread>,
}

/// What one run shows of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadOutcome {
    /// Jobs that are done.
    pub jobs: u64,
    /// The longest response of a job that is done.
    pub worst: Option<Ns>,
    /// Jobs that were done after the deadline, or have passed it at the end.
    pub missed: u64,
    /// Since when, at the end of the run, the job is due that is not done.
    pub unfinished: Option<Ns>,
    /// The longest time in which it was runnable and did not run.
    pub longest_wait: Ns,
}

impl ThreadOutcome {
    fn of(tally: &Tally, length: Ns) -> ThreadOutcome {
        ThreadOutcome {
            jobs: tally.jobs,
            worst: tally.worst(),
            missed: tally.missed,
            unfinished: tally.unfinished.map(|due| length - due),
            longest_wait: tally.longest_wait,
        }
    }

    /// The longest response, with that of a job that is not done at the end and of a wait that is part of none.
    pub fn longest(&self) -> Ns {
        self.worst.unwrap_or(Ns::ZERO).max(self.unfinished.unwrap_or(Ns::ZERO)).max(self.longest_wait)
    }

    /// True where the longest response is that of a job which is not done at the end.
    pub fn ends_late(&self) -> bool {
        self.unfinished.is_some_and(|since| Some(since) > self.worst)
    }
}

/// A thread that was not chosen, and loses by a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherThread {
    /// The task in the model.
    pub task: usize,
    /// Its longest response or wait without the sweep's changes.
    pub before: Ns,
    /// With them.
    pub after: Ns,
}

/// The outcomes of all tasks of one run.
pub(crate) fn run(model: &Model, length: Ns, seed: u64) -> Vec<ThreadOutcome> {
    let mut simulation = Simulation::new(model, length, seed, false);
    while simulation.advance() {}
    simulation.tallies().map(|tally| ThreadOutcome::of(tally, length)).collect()
}

/// What a run shows of the chosen tasks, and which of the others lose against `before`.
pub(crate) fn compare(all: &[ThreadOutcome], before: &[ThreadOutcome], chosen: &[usize]) -> SweepOutcome {
    let mut others: Vec<OtherThread> = (0..all.len())
        .filter(|task| !chosen.contains(task))
        .map(|task| OtherThread { task, before: before[task].longest(), after: all[task].longest() })
        .filter(|other| other.after - other.before >= NOTABLE.max(Ns(other.before.0 / 100)))
        .collect();
    others.sort_by_key(|other| (std::cmp::Reverse(other.after - other.before), other.task));
    others.truncate(OTHERS);
    SweepOutcome { threads: chosen.iter().map(|&task| all[task]).collect(), others }
}
