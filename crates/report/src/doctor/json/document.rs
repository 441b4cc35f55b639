//! The wire types of schema `whylate.doctor/1`.

use crate::explain::json::document::{Fix, Severity};
use crate::explain::json::location::Where;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.doctor/1";

/// The real-time mistakes of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.doctor/1")]
pub struct Document {
    /// Always `whylate.doctor/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// For how long the program was observed.
    pub duration_ns: i64,
    /// Its threads, the real-time ones first.
    pub threads: Vec<Thread>,
    /// The mistakes, gravest first.
    pub findings: Vec<Finding>,
    /// What could not be seen and why, in sentences.
    pub cannot_tell: Vec<String>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Its id.
    pub tid: i32,
    /// Its process.
    pub pid: i32,
    /// Its name.
    pub comm: String,
    /// `fifo`, `rr`, `deadline`, `other`, `batch`, `idle`, `ext`.
    pub policy: String,
    /// The user's real-time priority, 1 to 99; 0 for other policies.
    pub priority: u32,
    /// The CPUs it may use, as a list; null where they could not be read.
    pub cpus: Option<String>,
    /// Page faults without a device, since it began.
    pub minor_faults: u64,
    /// Page faults that read from a device, since it began.
    pub major_faults: u64,
    /// Times that it gave up the CPU, since it began.
    pub voluntary_switches: u64,
    /// Times that it was preempted, since it began.
    pub involuntary_switches: u64,
    /// The time it waited on a runqueue, since it began; null where the kernel does not count it.
    pub run_delay_ns: Option<i64>,
    /// The locked memory of its process; null where it could not be read.
    pub locked_bytes: Option<u64>,
    /// How many periodic waits it made; null where it is not real-time, or has none.
    pub periodic_waits: Option<u64>,
    /// Its system calls, the longest in total first.
    pub system_calls: Vec<SystemCall>,
}

/// All calls of one kind by a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemCall {
    /// The call's name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// For how long in total, sleeping included.
    pub total_ns: i64,
    /// The longest.
    pub worst_ns: i64,
    /// The program's line at which most of the time went; null where no call stack shows it.
    #[serde(rename = "where", default)]
    pub location: Option<Where>,
}

/// A mistake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Stable kebab-case code; `whylate doctor --code CODE` prints its page.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// One line.
    pub title: String,
    /// The thread; null: the whole process.
    pub thread: Option<FoundThread>,
    /// The program's own line; null where no call stack shows it, or no line is to blame.
    #[serde(rename = "where")]
    pub location: Option<Where>,
    /// The other party, such as the thread that held the lock; null where there is none.
    pub other: Option<OtherParty>,
    /// How often it happened; 1 for a setting.
    pub count: u64,
    /// The longest that one occurrence took; null where it has no duration, or it is not known.
    pub worst_ns: Option<i64>,
    /// Why it matters.
    pub why: String,
    /// What to do, best first.
    pub fix: Vec<String>,
    /// The same fixes with the settings that each changes, which `whylate plan --from` plans; empty in documents of older
    /// versions.
    #[serde(default)]
    #[schemars(!default)]
    pub fixes: Vec<Fix>,
}

/// A thread in a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundThread {
    /// Its id.
    pub tid: i32,
    /// Its name.
    pub comm: String,
}

/// The other party of a mistake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherParty {
    /// The thread.
    pub thread: FoundThread,
    /// Its line; null where no call stack shows it.
    #[serde(rename = "where")]
    pub location: Option<Where>,
}
