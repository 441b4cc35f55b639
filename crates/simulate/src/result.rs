//! What one task did in a simulation.

use crate::bounds::Bound;
use crate::engine::Tally;
use crate::model::TaskPolicy;
use whylate_base::{Ns, Tid};
use whylate_ledger::Cause;

/// What one task did.
#[derive(Clone, Debug)]
pub struct TaskResult {
    /// Its name.
    pub name: String,
    /// Its id in the explanation.
    pub tid: Tid,
    /// How it is scheduled at the beginning.
    pub scheduling: TaskPolicy,
    /// Its deadline.
    pub deadline: Option<Ns>,
    /// Its jobs.
    pub tally: Tally,
    /// What theory bounds its responses by.
    pub bound: Bound,
    /// All charged time of its activations by cause, largest first.
    pub causes: Vec<(Cause, Ns)>,
}

impl TaskResult {
    /// True where its CPU time or its waiting shows that it does not get what it needs.
    pub fn starves(&self, duration: Ns) -> bool {
        let long = Ns(duration.0 / 2).min(Ns::from_secs(2));
        self.tally.longest_wait >= long || self.tally.waited.0 > duration.0 / 10 * 9
    }
}
