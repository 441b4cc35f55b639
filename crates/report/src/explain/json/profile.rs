//! What threads spent their CPU time on, as folded stacks.

use super::location::Where;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_events::{StackId, Stacks};
use whylate_ledger::{CpuProfile, Explanation};

/// Stacks of a thread that are listed.
const LISTED: usize = 1000;

/// The samples of a thread's CPU clock, in the activations that `activations` has of it (the worst) and in all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// The thread.
    pub tid: i32,
    /// The CPU time that a sample stands for.
    pub period_ns: i64,
    /// How many of the worst activations there are.
    pub worst_activations: u64,
    /// How many others there are.
    pub other_activations: u64,
    /// The lines that took more time in one of the worst activations than in another one, with what they called, by more than
    /// chance; most first.
    pub grown: Vec<GrownLine>,
    /// Folded stacks, as flame graph tools take them; the most frequent in the worst activations first. At most 1,000.
    pub stacks: Vec<FoldedStack>,
    /// Samples whose stacks are not listed.
    pub unlisted_samples: u64,
}

/// A line that took more time in the worst activations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrownLine {
    /// The line.
    #[serde(rename = "where")]
    pub location: Where,
    /// Its mean time in one of the worst activations.
    pub worst_ns: i64,
    /// Its mean time in one of the others.
    pub others_ns: i64,
}

/// How often a stack was sampled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoldedStack {
    /// Its functions, the outermost first, separated by `;`; module and offset of a function without a name.
    pub stack: String,
    /// In the worst activations.
    pub worst: u64,
    /// In the others.
    pub others: u64,
}

pub(super) fn all(explanation: &Explanation) -> Vec<Profile> {
    let Some(stacks) = explanation.trace.stacks.as_deref() else { return Vec::new() };
    explanation.profiles.iter().map(|one| profile(one, stacks)).collect()
}

fn profile(profile: &CpuProfile, stacks: &Stacks) -> Profile {
    let (listed, others) = profile.stacks.split_at(profile.stacks.len().min(LISTED));
    Profile {
        tid: profile.tid.0,
        period_ns: profile.period.0,
        worst_activations: profile.activations.worst,
        other_activations: profile.activations.others,
        grown: (profile.grown.iter())
            .map(|line| GrownLine {
                location: Where::from(&line.location),
                worst_ns: line.worst.0,
                others_ns: line.others.0,
            })
            .collect(),
        stacks: (listed.iter())
            .map(|&(stack, counts)| FoldedStack {
                stack: folded(stack, stacks),
                worst: counts.worst,
                others: counts.others,
            })
            .collect(),
        unlisted_samples: others.iter().map(|(_, counts)| counts.worst + counts.others).sum(),
    }
}

fn folded(stack: StackId, stacks: &Stacks) -> String {
    let name = |frame: whylate_events::Frame<'_>| match frame.function() {
        Some(function) => function.replace(';', ":"),
        None => frame.to_string(),
    };
    let mut names: Vec<String> = stacks.frames(stack).map(name).collect();
    names.reverse();
    names.join(";")
}
