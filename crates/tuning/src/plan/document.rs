//! A plan as `whylate plan --json` writes it: with names and totals, which a reader need not work out.
//!
//! The members `wishes`, `as_wished` and `left_alone` have the names of version 0.1, which wrote them into plan files and
//! stores: both are read by any later version, and by an earlier one after a downgrade. They change with `whylate.plan/2`.

use super::model::{Change, Conflict, MachineIdentity, Plan, PlanRefusal, PredictedRefusal, Unchanged};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_profiles::{DesiredState, Skipped};

/// What tuning would change on a machine. A [`Plan`] is read from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.plan/1")]
pub struct PlanDocument {
    /// Always `whylate.plan/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The machine it was made for.
    pub machine: MachineIdentity,
    /// How many there are of each kind.
    pub totals: PlanTotals,
    /// What it was made from: what is asked for, before the machine is looked at.
    #[serde(rename = "wishes")]
    pub desired: DesiredState,
    /// The changes, in the order in which they will be made.
    pub changes: Vec<NamedChange>,
    /// Settings that already have the desired value.
    #[serde(rename = "as_wished")]
    pub unchanged: Vec<NamedUnchanged>,
    /// What is skipped: it could not be read, the kernel does not have it, or it cannot be changed.
    #[serde(rename = "left_alone")]
    pub skipped: Vec<Skipped>,
    /// Optional settings that the kernel will refuse: they are not changed.
    #[serde(default)]
    #[schemars(!default)]
    pub predicted: Vec<NamedRefusal>,
    /// Other programs and files that would undo changes or contradict them.
    pub conflicts: Vec<Conflict>,
    /// Why it is refused. Empty: it may be applied.
    pub refusals: Vec<PlanRefusal>,
}

/// How many there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanTotals {
    /// Changes.
    pub changes: u64,
    /// Changes that take effect only after a reboot.
    pub after_reboot: u64,
    /// Settings that already have the desired value.
    #[serde(rename = "as_wished")]
    pub unchanged: u64,
    /// What is skipped.
    #[serde(rename = "left_alone")]
    pub skipped: u64,
    /// Optional settings that the kernel will refuse.
    #[serde(default)]
    #[schemars(!default)]
    pub predicted: u64,
    /// Conflicts.
    pub conflicts: u64,
    /// Refusals.
    pub refusals: u64,
}

/// A change, with its setting's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedChange {
    /// The setting in a few words, the same each time.
    pub name: String,
    /// Whether it takes effect only after a reboot.
    pub after_reboot: bool,
    /// The change itself.
    #[serde(flatten)]
    pub change: Change,
}

/// An unchanged setting, with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedUnchanged {
    /// The setting in a few words, the same each time.
    pub name: String,
    /// The setting itself.
    #[serde(flatten)]
    pub unchanged: Unchanged,
}

/// A setting that the kernel will refuse, with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedRefusal {
    /// The setting in a few words, the same each time.
    pub name: String,
    /// The setting itself.
    #[serde(flatten)]
    pub predicted: PredictedRefusal,
}

impl PlanDocument {
    /// The name and version of its schema.
    pub const SCHEMA: &'static str = "whylate.plan/1";
}

impl From<Plan> for PlanDocument {
    fn from(plan: Plan) -> PlanDocument {
        let count = |length: usize| length as u64;
        let changes = plan.changes.into_iter().map(|change| NamedChange {
            name: change.setting.to_string(),
            after_reboot: change.setting.needs_reboot(),
            change,
        });
        let changes: Vec<NamedChange> = changes.collect();
        let unchanged = plan
            .unchanged
            .into_iter()
            .map(|own| NamedUnchanged { name: own.setting.to_string(), unchanged: own });
        let unchanged: Vec<NamedUnchanged> = unchanged.collect();
        let predicted = plan
            .predicted
            .into_iter()
            .map(|own| NamedRefusal { name: own.setting.to_string(), predicted: own });
        let predicted: Vec<NamedRefusal> = predicted.collect();
        PlanDocument {
            schema: PlanDocument::SCHEMA.to_owned(),
            machine: plan.machine,
            totals: PlanTotals {
                changes: count(changes.len()),
                after_reboot: count(changes.iter().filter(|change| change.after_reboot).count()),
                unchanged: count(unchanged.len()),
                skipped: count(plan.skipped.len()),
                predicted: count(predicted.len()),
                conflicts: count(plan.conflicts.len()),
                refusals: count(plan.refusals.len()),
            },
            desired: plan.desired,
            changes,
            unchanged,
            skipped: plan.skipped,
            predicted,
            conflicts: plan.conflicts,
            refusals: plan.refusals,
        }
    }
}
