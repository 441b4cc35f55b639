//! Machines, and the groups that they are in.

use std::collections::{BTreeMap, BTreeSet};
use whylate_stats::{Histogram, Run};

/// A measurement, with its place.
#[derive(Clone, Debug, Default)]
pub struct MachineRun {
    /// The group.
    pub group: String,
    /// The machine.
    pub machine: String,
    /// What else is known of the machine then: what it is called, and what it is.
    pub facts: Vec<(&'static str, String)>,
    /// The measurement.
    pub run: Run,
}

/// A machine in a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupMachine {
    /// Its runs: threads of one name merged, without the times of samples.
    pub run: Run,
    /// All samples of its threads.
    pub all: Histogram,
    /// How many runs.
    pub runs: usize,
}

/// Machines of a kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineGroup {
    /// What they have in common.
    pub name: String,
    /// They, by name.
    pub machines: BTreeMap<String, GroupMachine>,
    /// What else is known of them: all values of each fact.
    pub facts: BTreeMap<&'static str, BTreeSet<String>>,
}

impl MachineGroup {
    /// The runs of all its machines.
    pub fn runs(&self) -> usize {
        self.machines.values().map(|machine| machine.runs).sum()
    }

    /// Their samples.
    pub fn samples(&self) -> u64 {
        self.machines.values().map(|machine| machine.all.count()).fold(0, u64::saturating_add)
    }
}
