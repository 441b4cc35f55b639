//! What is proposed, and what was found.

use super::deadlines::HeldBy;
use whylate_base::{CpuSet, Ns, Policy};

/// What is proposed.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The tasks with a deadline, in the model's order.
    pub tasks: Vec<ProposedTask>,
    /// Other tasks that lose the most by it: the longest response or wait for a CPU, before and after.
    pub worse: Vec<(String, Ns, Ns)>,
    /// What was found.
    pub outcome: ProposalOutcome,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalOutcome {
    /// All deadlines are held as it is.
    HoldsAlready(HeldBy),
    /// These changes hold all deadlines; as `--set` has them.
    Found {
        /// `ctl.priority=60`
        changes: Vec<String>,
        /// By what.
        by: HeldBy,
    },
    /// No order of priorities on the placements that were tried holds them all.
    NotFound {
        /// Names of tasks of which none holds its deadline at the lowest of the priorities that are left to them: of the attempt
        /// that came furthest.
        left: Vec<String>,
    },
    /// It was interrupted before anything was found.
    Interrupted,
}

/// A task, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedTask {
    /// Its name.
    pub name: String,
    /// SCHED_FIFO or SCHED_RR.
    pub policy: Policy,
    /// Its deadline.
    pub deadline: Ns,
    /// As it is.
    pub before: TaskPlace,
    /// As it is proposed; the same where nothing is.
    pub after: TaskPlace,
}

/// Where a task runs, and what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPlace {
    /// Its real-time priority.
    pub priority: u8,
    /// The CPUs it may use; empty for all.
    pub cpus: CpuSet,
    /// The longest response in the run; `None` where no job was done.
    pub worst: Option<Ns>,
    /// Jobs that missed the deadline in the run.
    pub missed: u64,
    /// No response is longer; `None` where no analysis bounds it.
    pub bound: Option<Ns>,
}
