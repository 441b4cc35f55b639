//! Is a deadline held? By a bound, which holds for all phases, or in one run.

use crate::bounds::bounds;
use crate::engine::{Simulation, Tally};
use crate::model::Model;
use std::sync::atomic::{AtomicBool, Ordering};
use whylate_base::Ns;

/// What shows that deadlines are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBy {
    /// A bound: whatever the phases are.
    Bound,
    /// A run: in this one.
    Run,
}

/// How deadlines are looked at.
pub(super) struct Deadlines<'s> {
    /// The length and the seed of a run.
    pub(super) length: Ns,
    pub(super) seed: u64,
    pub(super) stop: &'s AtomicBool,
}

impl Deadlines<'_> {
    /// True where the task holds its deadline. After an interruption nothing is held.
    pub(super) fn holds(&self, model: &Model, task: usize, by: HeldBy) -> bool {
        let Some(deadline) = model.tasks[task].deadline.filter(|_| !self.is_stopped()) else { return false };
        match by {
            HeldBy::Bound => bounds(model)[task].response().is_some_and(|response| response <= deadline),
            HeldBy::Run => {
                let tally = &self.run(model)[task];
                tally.jobs > 0 && tally.missed == 0 && tally.skipped == 0
            }
        }
    }

    pub(super) fn run(&self, model: &Model) -> Vec<Tally> {
        let mut simulation = Simulation::new(model, self.length, self.seed, false);
        while simulation.advance() {}
        simulation.tallies().cloned().collect()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
