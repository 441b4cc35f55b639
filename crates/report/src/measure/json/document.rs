//! The wire types of schema `whylate.measure/1`.

use crate::explain::json::document::{Activation, Finding};
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
    /// What the traced windows show beyond single wake-ups, gravest first.
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
    /// Spikes by cause and culprit, listed or not; without a threshold those listed.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// The loads that ran meanwhile.
    #[serde(default)]
    pub loads: Vec<Load>,
    /// What lies beyond what was seen; null while it is being measured and in documents of earlier versions.
    #[serde(default)]
    pub beyond: Option<Beyond>,
    /// What the trace changed; null where that was not measured.
    #[serde(default)]
    pub observed: Option<Observed>,
    /// The phases of a measurement in phases, of which this is the last; empty without them.
    #[serde(default)]
    pub phases: Vec<Phase>,
    /// How the last phase differs from the first; null without phases.
    #[serde(default)]
    pub phase_shift: Option<PhaseShift>,
    /// Whether a deadline is kept, and which approach suits it; null without one.
    #[serde(default)]
    pub deadline: Option<Deadline>,
    /// False: a measurement that goes on, or was killed; the document has its last state.
    #[serde(default = "yes")]
    pub complete: bool,
}

fn yes() -> bool {
    true
}

/// A phase of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// `idle` or `stress`.
    pub phase: String,
    /// How long it was measured.
    pub elapsed_ns: i64,
    /// The names of the loads that ran.
    pub loads: Vec<String>,
    /// The samples of all CPUs.
    pub samples: u64,
    /// Their distribution; null without any.
    pub latency_ns: Option<Distribution>,
    /// Samples at least as late as the threshold; null without one.
    pub over_threshold: Option<u64>,
    /// The cause of the worst sample and its culprit; null: not explained.
    pub worst_cause: Option<String>,
}

/// How the last phase differs from the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseShift {
    /// The first phase.
    pub from: String,
    /// The last phase.
    pub to: String,
    /// Quantiles of the first (`without_ns`) and the last (`with_ns`).
    pub shifts: Vec<Shift>,
    /// All that in words.
    pub why: String,
}

/// A deadline, beside what was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deadline {
    /// The deadline.
    pub deadline_ns: i64,
    /// The order of magnitude of the worst case that it permits: 10 us, 100 us or 1 ms.
    pub class_ns: i64,
    /// Whether every sample was earlier; null: cannot tell.
    pub kept: Option<bool>,
    /// Samples that were at least that late.
    pub late: u64,
    /// Of so many.
    pub samples: u64,
    /// What suits it: `ordinary-kernel`, `preempt-rt` or `beside-linux`.
    pub approach: String,
    /// The reasons, in sentences.
    pub why: Vec<String>,
}

/// Spikes of one cause and culprit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// The cause's code; null: not explained.
    pub cause: Option<String>,
    /// The culprit, without ids that change from one time to the next; null: none, or not known.
    pub culprit: Option<String>,
    /// How many there were.
    pub count: u64,
    /// The latest of them.
    pub worst_ns: i64,
    /// When the first was due, on CLOCK_MONOTONIC.
    pub first_ns: i64,
    /// When the last was.
    pub last_ns: i64,
    /// The period that they keep; null: none was found.
    pub period_ns: Option<i64>,
    /// How closely: 1 exactly, 0 not at all.
    pub strength: Option<f64>,
}

/// A load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Its name, or the command.
    pub name: String,
    /// What it does.
    pub what: String,
    /// Where: a list such as `0-3,8`.
    pub cpus: String,
    /// That it ended before it was to, and why; null: it did not.
    pub died: Option<String>,
}

/// What the samples of all CPUs together support beyond themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Beyond {
    /// By the samples beyond a threshold (generalised Pareto).
    pub by_tail: Fit,
    /// By the largest of each stretch of time (generalised extreme value).
    pub by_blocks: Fit,
    /// What was claimed, and whether it holds; null: nothing.
    pub claim: Option<Claim>,
}

/// A fit, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// What is exceeded how rarely; empty without a fit.
    pub levels: Vec<Level>,
    /// Why a fit would mean nothing; null where there is one.
    pub refused: Option<String>,
}

/// A latency that is exceeded with some probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// The probability.
    pub probability: f64,
    /// The most likely latency; null: so frequent that it was measured.
    pub estimate_ns: Option<i64>,
    /// The largest that the samples leave room for, with 95 %; null: any.
    pub upper_ns: Option<i64>,
}

/// A claim: later than `bound_ns` with at most `probability`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The latency.
    pub bound_ns: i64,
    /// The probability.
    pub probability: f64,
    /// Whether it holds.
    pub answer: Answer,
    /// True where the user stated that no cause exists that is rarer than the samples can show.
    #[serde(default)]
    pub assumes_no_rarer_cause: bool,
    /// A cause that never struck may strike with this probability, with 95 %; null in documents of older versions.
    pub unseen_at_most: Option<f64>,
    /// So many samples were later.
    pub exceeded: u64,
    /// Of so many.
    pub samples: u64,
    /// The largest probability that the samples alone leave room for, with 95 %.
    pub at_most: f64,
    /// How much longer to measure, none later, for the samples alone to carry it; null: no longer, or no way.
    pub longer_ns: Option<i64>,
    /// All that in words.
    pub why: String,
}

/// Does a claim hold?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes, by the samples alone.
    Measured,
    /// Yes, by the fit of the tail and the stated assumption that no rarer cause exists.
    Fitted,
    /// Cannot tell: the fit of the tail supports it if no rarer cause exists, which is not stated.
    NeedsAssumption,
    /// No.
    Contradicted,
    /// Cannot tell: it takes more samples.
    NotYet,
}

/// What the same measurement gave without the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// How long was measured without.
    pub elapsed_ns: i64,
    /// How many wake-ups.
    pub samples: u64,
    /// The latest of them; null without any.
    pub max_ns: Option<i64>,
    /// Quantiles without and with it.
    pub shifts: Vec<Shift>,
    /// How likely chance divides the latest wake-ups so unevenly; null: too few to know.
    pub tails_p: Option<f64>,
    /// All that in words.
    pub why: String,
}

/// How far a quantile moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shift {
    /// The share of samples below it.
    pub q: f64,
    /// Without the trace.
    pub without_ns: i64,
    /// With it.
    pub with_ns: i64,
    /// The least that it moved by, with 95 %; null: too few samples.
    pub least_ns: Option<i64>,
    /// The most.
    pub most_ns: Option<i64>,
}

/// The measuring threads that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// What a sample is: `timer`, `timer timerfd`, `busy`, `ipc pipe`, `deadline`, `hwlat`. Earlier versions measured
    /// `timer` only, and did not record that.
    #[serde(default = "timer")]
    pub kind: String,
    /// The SCHED_FIFO priority, 1 to 99.
    pub priority: u32,
    /// From one wake-up to the next.
    pub interval_ns: i64,
    /// A wake-up at least this late counts as over the threshold; null without one.
    pub threshold_ns: Option<i64>,
}

fn timer() -> String {
    "timer".to_owned()
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
    /// False: the thread was not bound, and `cpu` is where it began.
    #[serde(default = "bound")]
    pub bound: bool,
    /// How long it watched the clock (busy, hwlat); null of other probes.
    #[serde(default)]
    pub watched_ns: Option<i64>,
    /// Windows that were no samples, as the CPU had an interrupt or a switch (hwlat); null of other probes.
    #[serde(default)]
    pub disturbed: Option<u64>,
    /// The CPU's system management interrupts meanwhile; null where it is unknown.
    #[serde(default)]
    pub smis: Option<u64>,
    /// Periods whose work was not done by the deadline (deadline); null of other probes.
    #[serde(default)]
    pub overruns: Option<u64>,
    /// The parts of each wake-up (timerlat); null of other probes.
    #[serde(default)]
    pub timerlat: Option<Timerlat>,
    /// The instant (CLOCK_MONOTONIC) at which it should have woken and never did; null if it ended well.
    pub stuck_since_ns: Option<i64>,
}

/// What the timerlat tracer measured on the way to its samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timerlat {
    /// From when the timer was due until its interrupt; null without samples.
    pub irq_ns: Option<Distribution>,
    /// From when it was due until the thread ran; null where that is the sample (`timerlat kernel`), and without samples.
    pub thread_ns: Option<Distribution>,
    /// Wake-ups whose events were overwritten before they were read: in no distribution.
    pub lost: u64,
}

fn bound() -> bool {
    true
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
    /// What the trace shows of it; null where `not_explained` has the reason.
    pub activation: Option<Activation>,
    /// Why there is no explanation; null where there is one.
    pub not_explained: Option<NotExplained>,
    /// The file with its trace, in the directory of `--keep`; null: none.
    #[serde(default)]
    pub saved_as: Option<String>,
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
    /// Its turn had not come when this was written.
    NotYet,
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
    /// The counts of a CPU's interrupts, by which the hwlat probe distinguishes their gaps from the hardware's.
    Interrupts,
}
