//! The wire types of schema `whylate.watch/1`.

use crate::explain::json::document::{Entry, Rank, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.watch/1";

/// An event. A member that does not belong to the event is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.watch/1")]
pub struct Line {
    /// Always `whylate.watch/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// `started`, `late`, `recording`, `reloaded` or `summary`.
    pub event: String,
    /// When, by CLOCK_REALTIME; of `late` when the activation was due, of `summary` when the watch began.
    pub at_ns: i64,
    /// The late thread (`late`).
    pub thread: Option<Thread>,
    /// When it was due, by CLOCK_MONOTONIC, the clock of its window (`late`).
    pub due_ns: Option<i64>,
    /// Due to running; null if it never ran (`late`).
    pub latency_ns: Option<i64>,
    /// Due to done, or to the end of what was seen (`late`).
    pub response_ns: Option<i64>,
    /// The limit that the response exceeded (`late`).
    pub deadline_ns: Option<i64>,
    /// Where that limit comes from (`late`).
    pub deadline_from: Option<DeadlineFrom>,
    /// What made it late (`late`).
    pub verdict: Option<Verdict>,
    /// Where the time went; the entries add up to `response_ns` (`late`).
    #[serde(default)]
    pub ledger: Vec<Entry>,
    /// The file with its trace in the directory of --keep; null: there is none (`late`).
    pub window: Option<String>,
    /// Why there is no window though a directory was given (`late`).
    pub not_kept: Option<String>,
    /// Groups of events that are not recorded, to keep the bound on CPU time (`late`, `recording`).
    #[serde(default)]
    pub dropped: Vec<String>,
    /// For how long nothing is recorded (`recording`).
    pub paused_ns: Option<i64>,
    /// Why the configuration was not read again, and the old one stays; null: it was (`reloaded`).
    pub reason: Option<String>,
    /// Sentences about the machine and the recording (`started`).
    #[serde(default)]
    pub notes: Vec<String>,
    /// The whole watch (`summary`).
    pub summary: Option<Summary>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Its id.
    pub tid: i32,
    /// Its name.
    pub comm: String,
    /// Its class, priority and nice value then, without inheritance.
    #[serde(flatten)]
    pub rank: Rank,
}

/// Where a limit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeadlineFrom {
    /// The user gave it.
    Deadline,
    /// It is the thread's period, inferred from its timers.
    Period,
    /// It is far beyond the thread's own history: there is neither a deadline nor a period.
    History,
}

/// A watch, so far or at its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// False where the watch goes on, or was killed.
    pub complete: bool,
    /// How long it ran.
    pub elapsed_ns: i64,
    /// How many activations were late.
    pub late: u64,
    /// How many of them were counted and not explained, to keep the bound on CPU time.
    pub counted_only: u64,
    /// Late activations of earlier watches of the same directory.
    pub late_before: u64,
    /// The watched threads by name.
    pub threads: Vec<WatchedThread>,
    /// Late activations by thread, cause and culprit, with those of earlier watches of the same directory.
    pub groups: Vec<Group>,
    /// The windows in the directory, the oldest first.
    pub kept: Vec<Window>,
    /// What the watch itself took.
    pub cost: Cost,
    /// Groups of events that are not recorded, to keep the bound on CPU time.
    pub dropped: Vec<String>,
    /// What a reader must know, in sentences.
    pub notes: Vec<String>,
}

/// The threads of one name, over all restarts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedThread {
    /// The name.
    pub comm: String,
    /// How many activations were seen.
    pub activations: u64,
    /// How many of them were late.
    pub late: u64,
    /// What its last activation was judged by; null: nothing yet.
    pub deadline_ns: Option<i64>,
    /// Where that comes from.
    pub deadline_from: Option<DeadlineFrom>,
    /// Due to running.
    pub latency: Distribution,
    /// Due to done.
    pub response: Distribution,
}

/// A distribution: within 1.6 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// How many samples.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u64,
    /// The least; null without samples.
    pub min_ns: Option<i64>,
    /// The most; null without samples.
    pub max_ns: Option<i64>,
    /// Samples beyond all buckets.
    pub overflow: u64,
    /// The buckets that are not empty, in ascending order.
    pub buckets: Vec<Bucket>,
}

/// A bucket of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// The smallest latency that belongs to it.
    pub from_ns: i64,
    /// The largest.
    pub upto_ns: i64,
    /// How many samples it holds.
    pub count: u64,
}

/// Late activations of one thread, cause and culprit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// The thread's name.
    pub thread: String,
    /// The cause code, as `whylate explain --code CODE` explains it.
    pub cause: String,
    /// The culprit, by a name that is the same each time; null where there is none.
    pub culprit: Option<String>,
    /// How many there were.
    pub count: u64,
    /// The longest response.
    pub worst_ns: i64,
    /// When the first of them was due, by CLOCK_REALTIME.
    pub first_ns: i64,
    /// When the last of them was.
    pub last_ns: i64,
    /// The period that they keep; null where they keep none.
    pub period_ns: Option<i64>,
    /// How closely they keep it, 0 to 1.
    pub strength: Option<f64>,
}

/// A window on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// The file's name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// The late thread's name.
    pub thread: String,
    /// The cause code.
    pub cause: String,
    /// The culprit, by a name that is the same each time.
    pub culprit: Option<String>,
    /// When the activation was due, by CLOCK_REALTIME.
    pub at_ns: i64,
    /// Due to done.
    pub response_ns: i64,
    /// The verdict's sentence.
    pub why: String,
}

/// What a watch took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Own CPU time.
    pub cpu_ns: i64,
    /// The bound on it, as a share of one CPU.
    pub max_cpu: f64,
    /// Events that the kernel recorded.
    pub events: u64,
    /// Those of them that it overwrote before they were read.
    pub lost: u64,
    /// What recording one event takes the thread that causes it; null: not measured.
    pub event_ns: Option<f64>,
    /// The most memory that the process had; null: it cannot be read.
    pub memory_kib: Option<u64>,
    /// Bytes of all windows.
    pub disk_bytes: u64,
    /// For how long nothing was recorded.
    pub paused_ns: i64,
}
