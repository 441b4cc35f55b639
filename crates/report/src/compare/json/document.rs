//! The wire types of schema `whylate.compare/1`.

use crate::measure::json::document::{Answer as ClaimAnswer, Distribution};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.compare/1";

/// Measurements side by side: better or worse, and what changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.compare/1")]
pub struct Document {
    /// Always `whylate.compare/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The measurements; `pairs` has what is compared with what.
    pub runs: Vec<Run>,
    /// Two and two side by side, in order: each run beside the first, unless pairs were asked for.
    pub pairs: Vec<Pair>,
    /// The conditions that were asked of them.
    pub gates: Vec<Gate>,
    /// The claims that they are to carry.
    pub claims: Vec<Claim>,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The name of its file, made unique.
    pub label: String,
    /// The program that measured.
    pub tool: String,
    /// What a sample is: `timer`, `busy`, `ipc pipe`.
    pub probe: String,
    /// From one sample of a thread to its next; null where they are not periodic, or it is not known.
    pub interval_ns: Option<i64>,
    /// How long it took; null where that is not known.
    pub elapsed_ns: Option<i64>,
    /// The samples of all threads.
    pub samples: u64,
    /// Of all threads together; null without samples, and where minimum or mean is not known.
    pub latency_ns: Option<Distribution>,
    /// The largest of all threads, also where no more is known; null without samples.
    pub max_ns: Option<i64>,
    /// Each thread.
    pub threads: Vec<Thread>,
    /// What must be known of the numbers, in sentences.
    pub notes: Vec<String>,
}

/// A thread that measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Its name among the others.
    pub name: String,
    /// The CPU it was bound to; null: none, or not known.
    pub cpu: Option<u32>,
    /// How many samples it has.
    pub samples: u64,
    /// Its latencies; null without samples, and where minimum or mean is not known.
    pub latency_ns: Option<Distribution>,
    /// The largest, also where no more is known; null without samples.
    pub max_ns: Option<i64>,
}

/// A run beside another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The label of the run that it is compared with; null in documents of older versions: the first.
    pub baseline: Option<String>,
    /// Its label.
    pub run: String,
    /// Whether it is better.
    pub verdict: Verdict,
    /// Whether its latest samples, from the 99th percentile on, are better; null in documents of older versions.
    pub tail: Option<TailVerdict>,
    /// So many more samples of each are needed to compare the tail; null: enough, or more do not help.
    pub tail_more_samples: Option<u64>,
    /// Whether its usual latency, below the 99th percentile, is better; null in documents of older versions.
    pub usual: Option<Verdict>,
    /// Why so, in sentences, first those about the tail.
    pub why: Vec<String>,
    /// All threads together.
    pub all: Part,
    /// The threads that both have; none where there is but one.
    pub threads: Vec<ThreadPart>,
    /// The causes of late samples, the worst first.
    pub causes: Vec<Cause>,
    /// The machine's settings that differ; null where those of one run are not known.
    pub settings: Option<Vec<Setting>>,
}

/// What the latest samples of a run are, beside those of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TailVerdict {
    /// They are less late, or fewer.
    Better,
    /// They are later, or more.
    Worse,
    /// Some are better, others worse.
    Mixed,
    /// No difference is shown.
    Same,
    /// There are too few samples.
    TooFew,
    /// How late they were is not known.
    CannotTell,
}

/// What a run is, beside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A part is better, and none is worse.
    Better,
    /// A part is worse, and none is better.
    Worse,
    /// Some are better, others worse.
    Mixed,
    /// No difference is shown, or in the usual latency alone while the largest latency grew.
    Same,
    /// They cannot be compared.
    CannotTell,
}

/// Two distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Samples of the run before.
    pub samples_before: u64,
    /// Samples of the run after.
    pub samples_after: u64,
    /// The quantiles that both have.
    pub shifts: Vec<Shift>,
    /// How far the mean moved; null where both runs have quantiles, or a mean is not known.
    pub mean: Option<MeanShift>,
    /// The largest of the run before; null without samples.
    pub max_before_ns: Option<i64>,
    /// The largest of the run after; null without samples.
    pub max_after_ns: Option<i64>,
    /// How often both are beyond one threshold; null with too few samples.
    pub tails: Option<Tails>,
    /// Whose maxima over time are larger; null with too few, or where they are not known.
    pub larger: Option<Larger>,
}

/// How far the mean moved, by Hoeffding's inequality.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeanShift {
    /// It was.
    pub before_ns: i64,
    /// It is.
    pub after_ns: i64,
    /// The least that it moved by, with 95 %.
    pub least_ns: i64,
    /// The most that it moved by, with 95 %.
    pub most_ns: i64,
    /// How likely chance moves it as far: at most so.
    pub p: f64,
}

/// A thread in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPart {
    /// Its name.
    pub name: String,
    /// True where it differs by more than chance.
    pub differs: bool,
    /// Its distributions.
    pub part: Part,
}

/// How far a quantile moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shift {
    /// The share of samples below it.
    pub q: f64,
    /// It was.
    pub before_ns: i64,
    /// It is.
    pub after_ns: i64,
    /// The least that it moved by, with 95 %; null with too few samples.
    pub least_ns: Option<i64>,
    /// The most that it moved by, with 95 %; null with too few samples.
    pub most_ns: Option<i64>,
    /// True where chance is no explanation.
    pub shown: bool,
}

/// How often both are beyond one threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tails {
    /// The threshold.
    pub threshold_ns: i64,
    /// So many of the run before.
    pub before: u64,
    /// So many of the run after.
    pub after: u64,
    /// How likely chance divides them so unevenly, or more.
    pub p: f64,
}

/// Whose maxima over time are larger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Larger {
    /// The share of pairs of stretches of time in which the other's maximum is the larger.
    pub share: f64,
    /// How likely chance is as far from one half.
    pub p: f64,
}

/// A cause of late samples in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// Its code.
    pub cause: String,
    /// The culprit; null: none.
    pub culprit: Option<String>,
    /// Before; null: it was not among the listed late samples.
    pub before: Option<Seen>,
    /// After.
    pub after: Option<Seen>,
    /// True where every listed late sample of the other run was explained: "not there" is gone, or new.
    pub sure: bool,
}

/// The late samples of one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// How many are listed.
    pub count: u64,
    /// The latest.
    pub worst_ns: i64,
}

/// A setting that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Before; null: not known, or not there.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// A condition, and the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// The run's label.
    pub run: String,
    /// The condition: `p99.99 < 50.00 us`.
    pub gate: String,
    /// The answer.
    pub answer: Answer,
    /// The number that is the worst of all threads; null where it is unknown.
    pub value_ns: Option<i64>,
    /// Whose it is, of a condition that is missed; null otherwise.
    pub thread: Option<String>,
    /// Why it is unknown; null where it is known.
    pub why: Option<String>,
}

/// Whether a condition is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// By every thread.
    Met,
    /// Not by one at least.
    Missed,
    /// The number is not known.
    CannotTell,
}

/// A claim, and whether the samples support it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The run's label.
    pub run: String,
    /// A sample is later than this
    pub bound_ns: i64,
    /// with at most this probability.
    pub probability: f64,
    /// How far that is carried.
    pub carried: Carried,
    /// Whether it holds; null in documents of older versions.
    pub answer: Option<ClaimAnswer>,
    /// True where the user stated that no cause exists that is rarer than the samples can show.
    #[serde(default)]
    pub assumes_no_rarer_cause: bool,
    /// A cause that never struck may strike with this probability, with 95 %; null in documents of older versions.
    pub unseen_at_most: Option<f64>,
    /// Samples in all.
    pub samples: u64,
    /// Samples that were later.
    pub exceeded: u64,
    /// The largest probability that the samples alone leave room for, with 95 %.
    pub at_most: f64,
    /// Samples to be measured yet for these alone to carry it; null: none.
    pub more_samples: Option<u64>,
    /// How long that takes at the run's rate; null: no time, or not known.
    pub more_seconds: Option<f64>,
    /// The largest latency at that probability that the fitted tail leaves room for, with 95 %; null: any, or no fit.
    pub fitted_ns: Option<i64>,
    /// Why no tail is fitted; null where one is.
    pub refused: Option<String>,
}

/// How far a claim is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Carried {
    /// By the samples alone.
    Measured,
    /// By the fitted tail only.
    Fitted,
    /// Not.
    No,
}
