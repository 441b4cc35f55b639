//! A sweep in `whylate.simulate/1`.

use crate::json::ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_simulate::sweep::{Sweep, SweepOutcome, ThreadOutcome};

/// All combinations of the values of some settings; the rest of the document is about the worst one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepDocument {
    /// The settings, such as `ctl.priority`.
    pub keys: Vec<String>,
    /// The names of the chosen threads.
    pub threads: Vec<String>,
    /// Without the sweep's changes.
    pub as_is: Outcome,
    /// The combinations; the last setting changes first.
    pub combinations: Vec<SweepCombination>,
    /// The index of the worst combination; null where none was run.
    pub worst: Option<usize>,
    /// The index of the best one.
    pub best: Option<usize>,
    /// Combinations that were run and miss a deadline.
    pub missing_deadlines: usize,
    /// What is left out, and why.
    pub notes: Vec<String>,
}

/// A combination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepCombination {
    /// The value of each setting, in the order of `keys`.
    pub values: Vec<String>,
    /// What it does; null where it was not run or cannot be made.
    pub outcome: Option<Outcome>,
    /// Why it cannot be made; null where it can, or was not run.
    pub refused: Option<String>,
    /// Combinations of one group do nearly the same; group 0 is the worst. Null where it has no outcome.
    pub group: Option<usize>,
}

/// What a combination does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The chosen threads, in the order of `threads`.
    pub threads: Vec<OutcomeThread>,
    /// Other threads that lose the most against the run without the sweep's changes, three at most.
    pub others: Vec<OutcomeOther>,
}

/// What a combination does to a chosen thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeThread {
    /// Jobs that are done.
    pub jobs: u64,
    /// The longest response of one; null where none is done.
    pub max_ns: Option<i64>,
    /// Deadlines missed.
    pub misses: u64,
    /// Since when, at the end of the run, the job is due that is not done; null without one.
    pub unfinished_ns: Option<i64>,
    /// The longest time in which it was runnable and did not run.
    pub longest_wait_ns: i64,
}

/// A thread that was not chosen, and loses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeOther {
    /// Its name.
    pub name: String,
    /// Its longest response or wait without the sweep's changes.
    pub before_ns: i64,
    /// With them.
    pub after_ns: i64,
}

pub(super) fn sweep(sweep: &Sweep) -> SweepDocument {
    let mut groups = vec![None; sweep.combinations.len()];
    for (number, group) in sweep.groups.iter().enumerate() {
        group.members.iter().for_each(|&at| groups[at] = Some(number));
    }
    let combinations = sweep.combinations.iter().zip(groups).map(|(one, group)| SweepCombination {
        values: one.values.clone(),
        outcome: one.outcome.as_ref().and_then(|done| done.as_ref().ok()).map(|done| outcome(sweep, done)),
        refused: one.outcome.as_ref().and_then(|done| done.as_ref().err()).cloned(),
        group,
    });
    SweepDocument {
        keys: sweep.keys.clone(),
        threads: sweep.threads.clone(),
        as_is: outcome(sweep, &sweep.as_is),
        combinations: combinations.collect(),
        worst: sweep.ends.map(|(worst, _)| worst),
        best: sweep.ends.map(|(_, best)| best),
        missing_deadlines: sweep.combinations.iter().filter(|one| one.missed() > 0).count(),
        notes: sweep.notes.clone(),
    }
}

fn outcome(sweep: &Sweep, outcome: &SweepOutcome) -> Outcome {
    Outcome {
        threads: outcome.threads.iter().map(thread).collect(),
        others: outcome
            .others
            .iter()
            .map(|other| OutcomeOther {
                name: sweep.names.get(other.task).cloned().unwrap_or_default(),
                before_ns: other.before.0,
                after_ns: other.after.0,
            })
            .collect(),
    }
}

fn thread(thread: &ThreadOutcome) -> OutcomeThread {
    OutcomeThread {
        jobs: thread.jobs,
        max_ns: ns(thread.worst),
        misses: thread.missed,
        unfinished_ns: ns(thread.unfinished),
        longest_wait_ns: thread.longest_wait.0,
    }
}
