//! A plan, as it is kept and shown.

use crate::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{DesiredState, Reasons, Skipped};

/// What tuning would change on a machine, and what it would not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The machine it was made for.
    pub machine: MachineIdentity,
    /// What it was made from.
    #[serde(rename = "wishes")]
    pub desired: DesiredState,
    /// The changes, in the order in which they will be made.
    pub changes: Vec<Change>,
    /// Settings that already have the desired value.
    #[serde(rename = "as_wished")]
    pub unchanged: Vec<Unchanged>,
    /// What is skipped: it could not be read, the kernel does not have it, or it cannot be changed.
    #[serde(rename = "left_alone")]
    pub skipped: Vec<Skipped>,
    /// Optional settings that the kernel will refuse: they are not changed.
    #[serde(default)]
    pub predicted: Vec<PredictedRefusal>,
    /// Other programs and files that would undo changes or contradict them.
    pub conflicts: Vec<Conflict>,
    /// Why it is refused. Empty: it may be applied.
    pub refusals: Vec<PlanRefusal>,
}

/// What identifies a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineIdentity {
    /// `uname -r`; null: unknown.
    pub release: Option<String>,
    /// The online CPUs, as a list; null: unknown.
    pub cpus: Option<String>,
    /// /proc/sys/kernel/random/boot_id: threads and interrupts belong to one boot; null: unknown.
    pub boot_id: Option<String>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The setting.
    pub setting: Setting,
    /// The current value; null: the setting is absent.
    pub now: Option<String>,
    /// The planned value; null: the setting would be absent.
    pub then: Option<String>,
    /// Why.
    pub reasons: Reasons,
    /// Where it is asked for.
    pub origin: String,
    /// Whether an apply goes on without it if it is refused: the profile marks it as optional.
    #[serde(default)]
    #[schemars(!default)]
    pub optional: bool,
    /// Why the kernel will refuse it, as far as its files show; null: nothing shows that. An optional setting of which
    /// this is known is no change.
    #[serde(default)]
    #[schemars(!default)]
    pub prediction: Option<String>,
    /// Further information, such as that the running kernel differs from what the next boot will have; null: none.
    pub note: Option<String>,
}

/// A setting that the kernel will refuse, as far as its files show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedRefusal {
    /// The setting.
    pub setting: Setting,
    /// The current value; null: the setting is absent.
    pub now: Option<String>,
    /// The desired value; null: the setting would be absent.
    pub then: Option<String>,
    /// Why: the error, what it means, and what shows it.
    pub why: String,
    /// Where it is asked for.
    pub origin: String,
}

/// A setting that already has the desired value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unchanged {
    /// The setting.
    pub setting: Setting,
    /// Its value; null: it is absent.
    pub value: Option<String>,
    /// Further information, as of a change; null: none.
    pub note: Option<String>,
}

/// Something that contradicts the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// The program or file: `irqbalance`, `TuneD`, `/etc/sysctl.d/99-x.conf`.
    pub with: String,
    /// What will happen.
    pub why: String,
    /// What to do.
    pub fix: String,
    /// The settings that are affected, by name.
    pub settings: Vec<String>,
}

/// Why a plan is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanRefusal {
    /// Stable kebab-case code, such as `no-housekeeping-cpu`.
    pub code: String,
    /// Why.
    pub why: String,
    /// What to do; with the option that overrides it, where there is one.
    pub fix: String,
}

impl MachineIdentity {
    /// That of a machine, as far as it can be read.
    pub(super) fn read(tree: &FsRoot, snapshot: &Snapshot) -> MachineIdentity {
        MachineIdentity {
            release: snapshot.kernel.release.known().cloned(),
            cpus: snapshot.cpus.online.known().map(ToString::to_string),
            boot_id: tree.value::<String>("/proc/sys/kernel/random/boot_id").known().cloned(),
        }
    }
}

impl Plan {
    /// True where nothing that was asked for could be looked at: then it cannot be determined whether there is anything to
    /// change.
    pub fn is_blind(&self) -> bool {
        self.changes.is_empty()
            && self.unchanged.is_empty()
            && self.predicted.is_empty()
            && !self.skipped.is_empty()
    }
}
