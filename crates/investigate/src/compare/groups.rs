//! Groups of machines side by side, such as those with one kernel and those with another.
//!
//! ```text
//! MachineRun ... ─> Grouping: the runs of a machine in a group merged ─> tests: quantile by quantile, a machine is one
//!                                                                        observation ─> Holm ─> GroupPair: verdict
//! ```
//!
//! Samples of one machine resemble each other: many samples of few machines show little about other machines. So a machine
//! counts once, however long it was measured.

mod judged;
mod members;
mod pair;

pub use judged::{GroupGate, MissedBy};
pub use members::{GroupMachine, MachineGroup, MachineRun};
pub use pair::{GroupPair, GroupTest, GroupTestKind, SURE_OF_ALL, Untested};

use super::gate::Gate;
use pair::compared;
use std::collections::BTreeMap;
use whylate_stats::several::holm;

/// Groups that are being filled.
#[derive(Debug, Default)]
pub struct Grouping {
    groups: BTreeMap<String, MachineGroup>,
}

/// Groups side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupComparison {
    /// What tells the groups apart: `kernel`.
    pub by: String,
    /// The groups by name.
    pub groups: Vec<MachineGroup>,
    /// The place of the group that all others are compared with; `None`: there is only one.
    pub baseline: Option<usize>,
    /// The others.
    pub pairs: Vec<GroupPair>,
    /// How many tests were made: the correction is for so many.
    pub tests: usize,
    /// Conditions that each machine has to meet, but those of the baseline.
    pub gates: Vec<GroupGate>,
}

/// A baseline that no group is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no group is called `{name}`: there are {}", known.join(", "))]
pub struct NoBaseline {
    /// What was asked for.
    pub name: String,
    /// The groups.
    pub known: Vec<String>,
}

impl Grouping {
    /// Adds a run.
    pub fn add(&mut self, run: MachineRun) {
        let group = self.groups.entry(run.group.clone()).or_default();
        group.name = run.group;
        for (name, value) in run.facts {
            group.facts.entry(name).or_default().insert(value);
        }
        let machine = group.machines.entry(run.machine.clone()).or_default();
        machine.run.label = run.machine;
        machine.runs += 1;
        machine.all.merge(&run.run.all());
        for thread in run.run.threads {
            let known = machine.run.threads.iter_mut().find(|known| known.name == thread.name);
            match known {
                Some(known) => known.histogram.merge(&thread.histogram),
                None => machine.run.threads.push(thread),
            }
        }
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// True without a run.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Compares all groups with one: the one that is named, or the one with the most machines, the first of several.
    ///
    /// # Errors
    /// If there is no such group.
    pub fn compared(
        self,
        by: &str,
        baseline: Option<&str>,
        gates: &[Gate],
    ) -> Result<GroupComparison, NoBaseline> {
        let groups: Vec<MachineGroup> = self.groups.into_values().collect();
        let baseline = match baseline {
            Some(name) => match groups.iter().position(|group| group.name == name) {
                Some(at) => Some(at),
                None => {
                    let known = groups.iter().map(|group| format!("`{}`", group.name)).collect();
                    return Err(NoBaseline { name: name.to_owned(), known });
                }
            },
            None => (0..groups.len()).rev().max_by_key(|&at| groups[at].machines.len()),
        };
        let baseline = baseline.filter(|_| groups.len() > 1);
        let mut pairs = Vec::new();
        if let Some(before) = baseline {
            let others = (0..groups.len()).filter(|&after| after != before);
            pairs.extend(others.map(|after| compared(&groups, before, after)));
        }
        let all: Vec<f64> = pairs.iter().flat_map(|pair| pair.tests.iter().map(|test| test.p)).collect();
        let mut corrected = holm(&all).into_iter();
        for pair in &mut pairs {
            for (test, corrected) in pair.tests.iter_mut().zip(&mut corrected) {
                test.corrected = corrected;
            }
            pair.judge();
        }
        let asked = groups.iter().enumerate().filter(|(at, _)| Some(*at) != baseline);
        let gates =
            asked.flat_map(|(at, group)| gates.iter().map(move |gate| GroupGate::of(at, group, gate)));
        let gates = gates.collect();
        Ok(GroupComparison { by: by.to_owned(), baseline, pairs, tests: all.len(), gates, groups })
    }
}

#[cfg(test)]
mod tests;
