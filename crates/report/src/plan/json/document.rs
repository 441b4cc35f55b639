//! The wire types of schema `whylate.plan/1`.
//!
//! Every field that is of the plan itself has the name and the shape it has there, so that a document is read as the
//! plan it was made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.plan/1";

/// What tuning would change on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.plan/1")]
pub struct Document {
    /// Always `whylate.plan/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The machine it was made for.
    pub machine: Machine,
    /// How many there are of each kind.
    pub totals: Totals,
    /// What it was made of: what is asked for, before anybody looked at the machine.
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

/// The machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// `uname -r`; null where not known.
    pub release: Option<String>,
    /// The CPUs online, as a list; null where not known.
    pub cpus: Option<String>,
    /// Which boot it was; null where not known.
    pub boot_id: Option<String>,
}

/// How many there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Settings to be changed.
    pub changes: u64,
    /// Those of them that count only after a reboot.
    pub after_reboot: u64,
    /// Settings that are as they should be.
    pub as_wished: u64,
    /// What was left alone.
    pub left_alone: u64,
    /// Conflicts.
    pub conflicts: u64,
    /// Refusals.
    pub refusals: u64,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wishes {
    /// The profile's name, `realtime`; of TuneD's, `tuned:realtime`.
    pub profile: String,
    /// The variables, each a name and its value.
    pub variables: Vec<[String; 2]>,
    /// In the order in which they are to be made.
    pub wishes: Vec<Wish>,
    /// What the profile asks for and is not carried over.
    pub left_out: Vec<LeftOut>,
}

/// One thing that is to be so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wish {
    /// What it is about.
    pub aim: Aim,
    /// How it is to be; null: it is not to be there.
    pub value: Option<String>,
    /// Why.
    pub reasons: Reasons,
    /// Where it is written.
    pub origin: String,
    /// A machine without it is no matter.
    pub optional: bool,
}

/// What a wish is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "aim")]
pub enum Aim {
    /// Files of the kernel; `*` stands for any name.
    Knob {
        /// Absolute.
        path: String,
    },
    /// The policy and priority of threads.
    ThreadPolicy {
        /// Which threads.
        threads: Threads,
    },
    /// The CPUs of threads.
    ThreadCpus {
        /// Which threads.
        threads: Threads,
    },
    /// Where interrupts may go.
    Irqs,
    /// A kernel parameter from the next boot on.
    Parameter {
        /// Its name.
        name: String,
    },
    /// Whether a unit of systemd runs now.
    UnitActive {
        /// Its name.
        unit: String,
    },
    /// Whether a unit of systemd is started at boot.
    UnitEnabled {
        /// Its name.
        unit: String,
    },
    /// A variable in a configuration file.
    Variable {
        /// The file.
        file: String,
        /// Its section; null in files without.
        section: Option<String>,
        /// The variable.
        name: String,
    },
    /// A control group whose CPUs the scheduler balances on their own.
    Partition {
        /// Its path below /sys/fs/cgroup.
        group: String,
    },
    /// A request for short exits of idle states.
    CpuDmaLatency,
}

/// Which threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Threads {
    /// A pattern for their names; a kernel thread's is in brackets.
    pub named: Pattern,
    /// All but these.
    pub except: Vec<Pattern>,
}

/// A pattern for names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The whole name; `*` stands for any characters.
    Glob(String),
    /// A regular expression for a part of the name.
    Regex(String),
}

/// Why a setting should be so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reasons {
    /// In a sentence or two; null: not said.
    pub why: Option<String>,
    /// The check that looks at the same setting; null: none does.
    pub rule: Option<String>,
    /// What it brought where somebody measured; null: unknown.
    pub benefit: Option<String>,
    /// What may go wrong; null: nothing is known.
    pub risk: Option<String>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Of what.
    pub setting: Setting,
    /// The setting in a few words, the same each time.
    pub name: String,
    /// How it is; null: it is not there.
    pub now: Option<String>,
    /// How it would be; null: it would not be there.
    pub then: Option<String>,
    /// Whether it counts only after a reboot.
    pub after_reboot: bool,
    /// Why.
    pub reasons: Reasons,
    /// Where that is asked for.
    pub origin: String,
    /// What else there is to know; null: nothing.
    pub note: Option<String>,
}

/// A setting that need not be changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// Which.
    pub setting: Setting,
    /// The setting in a few words.
    pub name: String,
    /// How it is; null: it is not there.
    pub value: Option<String>,
    /// What else there is to know; null: nothing.
    pub note: Option<String>,
}

/// What can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Setting {
    /// A file of the kernel that holds one value.
    Knob {
        /// Absolute.
        path: String,
    },
    /// A thread's policy and priority.
    ThreadPolicy {
        /// Which.
        thread: ThreadId,
    },
    /// The CPUs a thread may use.
    ThreadCpus {
        /// Which.
        thread: ThreadId,
    },
    /// A kernel parameter, from the next boot on.
    Parameter {
        /// Its name.
        name: String,
    },
    /// Whether a unit of systemd runs.
    UnitActive {
        /// Its name.
        unit: String,
    },
    /// Whether a unit of systemd is started at boot.
    UnitEnabled {
        /// Its name.
        unit: String,
    },
    /// A variable of a configuration file.
    Variable {
        /// The file.
        file: String,
        /// Its section; null in files without.
        section: Option<String>,
        /// The variable.
        name: String,
    },
    /// A control group's own scheduling domain.
    Partition {
        /// Its path below /sys/fs/cgroup.
        group: String,
    },
    /// The request that is held in /dev/cpu_dma_latency, in us.
    CpuDmaLatency,
}

/// A thread, for as long as it lives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadId {
    /// Its process.
    pub pid: i32,
    /// Its own id.
    pub tid: i32,
    /// When it was started, in clock ticks since boot.
    pub started: u64,
    /// Its name, in brackets if it is the kernel's.
    pub name: String,
}

/// Something that will not be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// What.
    pub what: String,
    /// Why not.
    pub why: String,
}

/// Something that does not go together with the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// With whom.
    pub with: String,
    /// What will happen.
    pub why: String,
    /// What to do.
    pub fix: String,
    /// The settings that are concerned, by name.
    pub settings: Vec<String>,
}

/// Why a plan is not applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// Stable code, such as `no-housekeeping-cpu`.
    pub code: String,
    /// Why.
    pub why: String,
    /// What to do.
    pub fix: String,
}
