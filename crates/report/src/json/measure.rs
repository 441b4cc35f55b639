//! The wire types of schema `whylate.measure/1`.

use super::explain::{Activation, Finding};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.measure/1";

/// How late timed wake-ups were, and why the latest of them were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.measure/1")]
pub struct Document {
    /// Always `whylate.measure/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// What was asked for.
    pub probe: Probe,
    /// How long it ran.
    pub elapsed_ns: i64,
    /// Each measured CPU, ascending.
    pub cpus: Vec<CpuResult>,
    /// Wake-ups at least as late as the threshold; null without one.
    pub over_threshold: Option<u64>,
    /// The worst wake-ups and those over the threshold, worst first.
    pub spikes: Vec<Spike>,
    /// Wake-ups over the threshold beyond those listed.
    pub not_listed: u64,
    /// What the traced windows say beyond single wake-ups, gravest first.
    pub findings: Vec<Finding>,
    /// The trace that ran along.
    pub trace: Trace,
    /// What the measuring threads had to do without.
    pub degraded: Vec<Degraded>,
    /// What the measurement itself did to the machine, in sentences.
    pub observer: Vec<String>,
    /// How the machine was set while it was measured, as far as it could be read.
    #[serde(default)]
    pub machine: Vec<Setting>,
}

/// The measuring threads that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// The SCHED_FIFO priority, 1 to 99.
    pub priority: u32,
    /// From one wake-up to the next.
    pub interval_ns: i64,
    /// A wake-up at least this late counts as over the threshold; null without one.
    pub threshold_ns: Option<i64>,
}

/// A setting of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// A file of the kernel, or what it is about.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The largest latency of each stretch of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Maxima {
    /// How long a stretch lasts.
    pub length_ns: i64,
    /// Of each in order, from the beginning on; null where nothing was measured.
    pub largest_ns: Vec<Option<i64>>,
}

/// One CPU's measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuResult {
    /// The CPU.
    pub cpu: u32,
    /// Its measuring thread.
    pub tid: i32,
    /// The policy that thread really had: `fifo`, or `other` where real-time was refused.
    pub policy: String,
    /// The priority it really had: 1 to 99, or 0 for `other`.
    pub priority: u32,
    /// How many wake-ups were measured.
    pub samples: u64,
    /// Due to woken, as the thread itself measured it; null without samples.
    pub latency_ns: Option<Distribution>,
    /// The samples by latency, ascending; empty buckets are left out.
    pub histogram: Vec<Bucket>,
    /// When the latest ones were; null in documents of earlier versions.
    #[serde(default)]
    pub maxima: Option<Maxima>,
    /// Samples too late for any bucket (over 17 s): in `samples` and `latency_ns` only.
    pub overflow: u64,
    /// Periods that passed while the thread was still late from an earlier one.
    pub missed: u64,
    /// Its page faults without I/O while it measured; null where not known.
    pub minor_faults: Option<u64>,
    /// Its page faults with I/O while it measured; null where not known.
    pub major_faults: Option<u64>,
    /// How often another thread took the CPU from it while it measured; null where not known.
    pub preemptions: Option<u64>,
    /// Spikes that came faster than they could be noted: in the histogram, not in `spikes`.
    pub unreported_spikes: u64,
    /// The instant (CLOCK_MONOTONIC) at which it should have woken and never did; null if it ended well.
    pub stuck_since_ns: Option<i64>,
}

/// A distribution. Minimum, mean and maximum are exact, percentiles at most 0.1 % too high.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// The least, in nanoseconds.
    pub min: i64,
    /// The mean, in nanoseconds.
    pub mean: i64,
    /// The median, in nanoseconds.
    pub p50: i64,
    /// The 99th percentile, in nanoseconds; null with fewer than 100 samples.
    pub p99: Option<i64>,
    /// The 99.99th percentile, in nanoseconds; null with fewer than 10,000 samples.
    pub p99_99: Option<i64>,
    /// The most, in nanoseconds.
    pub max: i64,
}

/// Samples of about the same latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// The largest latency that belongs to it.
    pub upto_ns: i64,
    /// How many samples it holds.
    pub count: u64,
}

/// A late wake-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spike {
    /// The CPU.
    pub cpu: u32,
    /// Its measuring thread.
    pub tid: i32,
    /// Why it is listed.
    pub kind: SpikeKind,
    /// When the thread was to wake, on CLOCK_MONOTONIC.
    pub due_ns: i64,
    /// When it read the clock after its sleep; of a stuck thread, when the measurement ended.
    pub woken_ns: i64,
    /// Due to woken.
    pub latency_ns: i64,
    /// What the trace shows of it; null where `not_explained` says why.
    pub activation: Option<Activation>,
    /// Why there is no explanation; null where there is one.
    pub not_explained: Option<NotExplained>,
}

/// Why a wake-up is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpikeKind {
    /// At least as late as the threshold.
    OverThreshold,
    /// Among the worst.
    Worst,
    /// Still not awake when the measurement ended: its latency is a lower bound.
    Stuck,
}

/// Why a wake-up has no explanation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotExplained {
    /// The sort of reason.
    pub reason: Reason,
    /// In a sentence, with what would help.
    pub why: String,
}

/// The sorts of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// No trace ran along.
    NoTrace,
    /// The kernel had overwritten the moment before it was read.
    Overwritten,
    /// The window is there, but shows no such wake-up.
    NotFound,
    /// Its window was given up for those of worse wake-ups.
    GivenUp,
    /// The window could not be read.
    Unreadable,
}

/// The trace that ran along.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// Whether there was one.
    pub state: TraceState,
    /// Events the kernel recorded; null without a trace.
    pub events: Option<u64>,
    /// What was not recorded, or what is missing for a trace and how to get it, in sentences.
    pub notes: Vec<String>,
}

/// Whether a trace ran along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceState {
    /// It did.
    Recorded,
    /// It was not wanted.
    Off,
    /// It could not, or stopped working.
    Unavailable,
}

/// One thing the measurement had to do without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Degraded {
    /// What was refused.
    pub lacking: Lacking,
    /// What the numbers mean because of it.
    pub effect: String,
    /// The refusal: call, attempt and errno.
    pub reason: String,
    /// How to get the right.
    pub remedy: String,
}

/// A right that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lacking {
    /// The real-time policy and priority.
    Priority,
    /// Locked memory.
    LockedMemory,
}
