//! A proposal in `whylate.simulate/1`.

use crate::json::ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_base::Ns;
use whylate_simulate::propose::{HeldBy, Proposal, ProposalOutcome, ProposedTask, TaskPlace};

/// Priorities and CPUs that hold all deadlines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProposalDocument {
    /// `holds-already`, `found`, `not-found`, `interrupted`.
    pub outcome: String,
    /// `bound`: whatever the phases are; `run`: in this run; null where the deadlines are not held.
    pub held_by: Option<String>,
    /// The changes, as `--set` has them; empty where nothing is to change.
    pub changes: Vec<String>,
    /// Where nothing was found: tasks of which none holds its deadline below the others.
    pub left: Vec<String>,
    /// The tasks with a deadline.
    pub tasks: Vec<ProposalTask>,
    /// Other tasks that lose the most by it.
    pub worse: Vec<ProposalWorse>,
}

/// A task that loses by a proposal: its longest response or wait for a CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProposalWorse {
    /// Its name.
    pub name: String,
    /// As it is.
    pub longest_before_ns: i64,
    /// As it is proposed.
    pub longest_after_ns: i64,
}

/// A task of a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProposalTask {
    /// Its name.
    pub name: String,
    /// Its deadline.
    pub deadline_ns: i64,
    /// As it is.
    pub before: ProposalPlace,
    /// As it is proposed; the same where nothing is.
    pub after: ProposalPlace,
}

/// Where a task runs, and what comes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProposalPlace {
    /// Its real-time priority.
    pub priority: u8,
    /// The CPUs it may use, as a list; empty for all.
    pub cpus: String,
    /// The longest response in the run; null where no job was done.
    pub longest_ns: Option<i64>,
    /// No response is longer; null where no analysis bounds it.
    pub bound_ns: Option<i64>,
    /// Jobs that missed the deadline in the run.
    pub misses: u64,
}

pub(super) fn proposal(proposal: &Proposal) -> ProposalDocument {
    let (outcome, by, changes, left) = match &proposal.outcome {
        ProposalOutcome::HoldsAlready(by) => ("holds-already", Some(by), [].as_slice(), [].as_slice()),
        ProposalOutcome::Found { changes, by } => ("found", Some(by), changes.as_slice(), [].as_slice()),
        ProposalOutcome::NotFound { left } => ("not-found", None, [].as_slice(), left.as_slice()),
        ProposalOutcome::Interrupted => ("interrupted", None, [].as_slice(), [].as_slice()),
    };
    let name = |by: &HeldBy| match by {
        HeldBy::Bound => "bound".to_owned(),
        HeldBy::Run => "run".to_owned(),
    };
    ProposalDocument {
        outcome: outcome.to_owned(),
        held_by: by.map(name),
        changes: changes.to_vec(),
        left: left.to_vec(),
        tasks: proposal.tasks.iter().map(task).collect(),
        worse: proposal.worse.iter().map(worse).collect(),
    }
}

fn worse((name, before, after): &(String, Ns, Ns)) -> ProposalWorse {
    ProposalWorse { name: name.clone(), longest_before_ns: before.0, longest_after_ns: after.0 }
}

fn task(task: &ProposedTask) -> ProposalTask {
    ProposalTask {
        name: task.name.clone(),
        deadline_ns: task.deadline.0,
        before: place(&task.before),
        after: place(&task.after),
    }
}

fn place(place: &TaskPlace) -> ProposalPlace {
    ProposalPlace {
        priority: place.priority,
        cpus: place.cpus.to_string(),
        longest_ns: ns(place.worst),
        bound_ns: ns(place.bound),
        misses: place.missed,
    }
}
