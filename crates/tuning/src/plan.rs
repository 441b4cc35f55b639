//! The difference between a machine and what a profile asks of it, with reasons.

use crate::{LeftOut, Reasons, Setting, Wishes};
use serde::{Deserialize, Serialize};

/// What would be done, what would not, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The machine it was made for.
    pub machine: Machine,
    /// What it was made of.
    pub wishes: Wishes,
    /// What is to be changed, in the order in which it will be.
    pub changes: Vec<Change>,
    /// What is as it should be.
    pub as_wished: Vec<Kept>,
    /// What was left alone: it could not be read, this kernel has no such thing, or nobody can do it.
    pub left_alone: Vec<LeftOut>,
    /// Who would undo it, or what it does not go together with.
    pub conflicts: Vec<Conflict>,
    /// Why it must not be applied as it is. Empty: it may.
    pub refusals: Vec<Refusal>,
}

/// By what a machine is known again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -r`; `None`: not known.
    pub release: Option<String>,
    /// The CPUs online, as a list; `None`: not known.
    pub cpus: Option<String>,
    /// /proc/sys/kernel/random/boot_id: threads and interrupts are of one boot; `None`: not known.
    pub boot_id: Option<String>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Of what.
    pub setting: Setting,
    /// How it is; `None`: it is not there.
    pub now: Option<String>,
    /// How it would be; `None`: it would not be there.
    pub then: Option<String>,
    /// Why.
    #[serde(default)]
    pub reasons: Reasons,
    /// Where that is asked for.
    pub origin: String,
}

/// A setting that need not be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Which.
    pub setting: Setting,
    /// How it is.
    pub value: Option<String>,
}

/// Something that does not go together with the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// With whom: `irqbalance`, `TuneD`, `systemd-sysctl: /etc/sysctl.d/99-x.conf`.
    pub with: String,
    /// What will happen.
    pub why: String,
    /// What to do.
    pub fix: String,
    /// The settings that are concerned, by name.
    pub settings: Vec<String>,
}

/// Why a plan is not applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Stable kebab-case code, such as `no-housekeeping-cpu`.
    pub code: String,
    /// Why.
    pub why: String,
    /// What to do; with the option that overrides it, where there is one.
    pub fix: String,
}
