//! The wire types of the recording itself, in schema `whylate.explain/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A recording, with its losses and damage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// What the file is, in a few words.
    pub format: String,
    /// Events read.
    pub events: u64,
    /// Events the kernel lost, as far as it counted them.
    pub lost_events: u64,
    /// How many CPUs the recording covers.
    pub cpus: u32,
    /// The trace clock's name; null where the file does not have it.
    pub clock: Option<String>,
    /// The kernel's release, as `uname -r` prints it; null where the file does not have it.
    pub kernel_release: Option<String>,
    /// The machine's architecture, as `uname -m` prints it; null where the file does not have it.
    pub machine: Option<String>,
    /// The first instant; null in an empty recording.
    pub start_ns: Option<i64>,
    /// The last instant; null in an empty recording.
    pub end_ns: Option<i64>,
    /// How far it can be relied on; null in a report of a whylate that did not record it.
    pub quality: Option<Quality>,
    /// What could not be read.
    pub damage: Vec<Damage>,
    /// The call stacks that were sampled; null where none were.
    #[serde(default)]
    pub stacks: Option<StackFacts>,
}

/// The call stacks of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackFacts {
    /// How many there are.
    pub samples: u64,
    /// How many the kernel had no room for.
    pub lost: u64,
    /// The interval of each thread's CPU clock.
    pub period_ns: i64,
    /// What they took of the sampled threads' time, as an estimate; null where it is not known.
    pub cost_ns: Option<i64>,
    /// What they do not show, and why, in sentences.
    pub notes: Vec<String>,
}

/// How far a recording can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quality {
    /// All events are there.
    Whole,
    /// Events are missing at known places; the others are as good as ever.
    Damaged,
    /// Much is missing, or what is there may be wrong: whose it is, when it was. No answer is sure.
    Poor,
}

/// A place in a file that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Damage {
    /// Byte offset in the file, or line number of a text; null where it is not known.
    pub offset: Option<u64>,
    /// What was wrong, and what it cost.
    pub what: String,
}
