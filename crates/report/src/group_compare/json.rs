//! Groups side by side as JSON.

use super::compared::ComparedGroups;
use crate::compare::json::document::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_investigate::compare::groups::{
    GroupGate, GroupPair, GroupTest, GroupTestKind, MachineGroup, Untested as UntestedQuantile,
};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.compare-groups/1";

/// Groups as a document of schema [`SCHEMA`].
pub fn render(report: &ComparedGroups) -> Value {
    crate::json::value(&Document::from(report))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// Groups of machines, compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.compare-groups/1")]
pub struct Document {
    /// Always `whylate.compare-groups/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// What tells the groups apart, such as `kernel`.
    pub by: String,
    /// The group that the others are compared with; null where there is only one.
    pub baseline: Option<String>,
    /// The groups by name.
    pub groups: Vec<Group>,
    /// Each other group beside the baseline.
    pub pairs: Vec<PairOfGroups>,
    /// How many tests were made, for which Holm's method corrects.
    pub tests: usize,
    /// Conditions that each machine of a group has to meet.
    pub gates: Vec<GateOfGroup>,
    /// Measurements that are in no group, in sentences.
    pub left_out: Vec<String>,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// What its machines have in common.
    pub name: String,
    /// Its machines.
    pub machines: Vec<String>,
    /// Their measurements.
    pub runs: usize,
    /// Their samples.
    pub samples: u64,
}

/// A group beside the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairOfGroups {
    /// The group.
    pub group: String,
    /// Whether it is worse than the baseline.
    pub verdict: Verdict,
    /// The quantiles that were tested.
    pub tests: Vec<Test>,
    /// Those that were not.
    pub untested: Vec<Untested>,
    /// What else the groups differ in.
    pub differing: Vec<Differing>,
}

/// A quantile, tested from machine to machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    /// The share of samples below it.
    pub q: f64,
    /// The median of the machines before.
    pub before_ns: i64,
    /// The median of the machines of the group.
    pub after_ns: i64,
    /// The median of the machines' differences, or of different machines the difference of the medians; positive is later.
    pub shift_ns: i64,
    /// `sign` (machines of both groups, each with itself) or `mann-whitney`.
    pub test: String,
    /// Machines of the baseline.
    pub machines_before: u64,
    /// Machines of the group.
    pub machines_after: u64,
    /// How likely chance makes such a difference.
    pub p: f64,
    /// The same, corrected for all tests of the document.
    pub corrected: f64,
    /// Whether it counts as shown.
    pub shown: bool,
}

/// A quantile that could not be tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Untested {
    /// The share of samples below it.
    pub q: f64,
    /// Machines of the baseline with enough samples.
    pub machines_before: usize,
    /// Machines of the group with enough samples.
    pub machines_after: usize,
    /// Machines with enough samples in both.
    pub both: usize,
}

/// Something else that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Differing {
    /// Its name, such as `board`.
    pub name: String,
    /// All values of the baseline.
    pub before: Vec<String>,
    /// All values of the group.
    pub after: Vec<String>,
}

/// How the machines of a group meet a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateOfGroup {
    /// The group.
    pub group: String,
    /// The condition.
    pub gate: String,
    /// So many machines meet it.
    pub met: usize,
    /// Those that miss it, the worst first.
    pub missed: Vec<Missed>,
    /// Those of which it is not known.
    pub unknown: Vec<Unknown>,
}

/// A machine that misses a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Missed {
    /// The machine.
    pub machine: String,
    /// Its worst thread.
    pub thread: String,
    /// The thread's number.
    pub value_ns: i64,
}

/// A machine of which it is not known whether it meets a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unknown {
    /// The machine.
    pub machine: String,
    /// Why.
    pub why: String,
}

impl From<&ComparedGroups> for Document {
    fn from(report: &ComparedGroups) -> Self {
        let comparison = &report.comparison;
        let name = |at: usize| comparison.groups.get(at).map(|group| group.name.clone()).unwrap_or_default();
        Document {
            schema: SCHEMA.to_owned(),
            by: comparison.by.clone(),
            baseline: comparison.baseline.map(name),
            groups: comparison.groups.iter().map(Group::from).collect(),
            pairs: comparison.pairs.iter().map(|pair| PairOfGroups::of(name(pair.after), pair)).collect(),
            tests: comparison.tests,
            gates: comparison.gates.iter().map(|gate| GateOfGroup::of(name(gate.group), gate)).collect(),
            left_out: report.left_out.clone(),
        }
    }
}

impl From<&MachineGroup> for Group {
    fn from(group: &MachineGroup) -> Self {
        Group {
            name: group.name.clone(),
            machines: group.machines.keys().cloned().collect(),
            runs: group.runs(),
            samples: group.samples(),
        }
    }
}

impl PairOfGroups {
    fn of(group: String, pair: &GroupPair) -> PairOfGroups {
        let differing = pair.confounded.iter().map(|(name, before, after)| Differing {
            name: (*name).to_owned(),
            before: before.clone(),
            after: after.clone(),
        });
        PairOfGroups {
            group,
            verdict: pair.verdict.into(),
            tests: pair.tests.iter().map(Test::from).collect(),
            untested: pair.untested.iter().map(Untested::from).collect(),
            differing: differing.collect(),
        }
    }
}

impl From<&GroupTest> for Test {
    fn from(test: &GroupTest) -> Self {
        let (name, before, after) = match test.kind {
            GroupTestKind::Same(signs) => ("sign", signs.machines, signs.machines),
            GroupTestKind::Different { before, after, .. } => ("mann-whitney", before as u64, after as u64),
        };
        Test {
            q: test.q,
            before_ns: test.before.0,
            after_ns: test.after.0,
            shift_ns: test.shift.0,
            test: name.to_owned(),
            machines_before: before,
            machines_after: after,
            p: test.p,
            corrected: test.corrected,
            shown: test.is_shown(),
        }
    }
}

impl From<&UntestedQuantile> for Untested {
    fn from(untested: &UntestedQuantile) -> Self {
        let UntestedQuantile { q, before, after, both } = *untested;
        Untested { q, machines_before: before, machines_after: after, both }
    }
}

impl GateOfGroup {
    fn of(group: String, gate: &GroupGate) -> GateOfGroup {
        let missed = gate.missed.iter().map(|missed| Missed {
            machine: missed.machine.clone(),
            thread: missed.thread.clone(),
            value_ns: missed.value.0,
        });
        let unknown =
            gate.unknown.iter().map(|(machine, why)| Unknown { machine: machine.clone(), why: why.clone() });
        GateOfGroup {
            group,
            gate: gate.gate.to_string(),
            met: gate.met,
            missed: missed.collect(),
            unknown: unknown.collect(),
        }
    }
}
