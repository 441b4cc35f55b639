//! The wire types of schema `whylate.bench/1`.

use crate::explain::json::document::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.bench/1";

/// What operations cost on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.bench/1")]
pub struct Document {
    /// Always `whylate.bench/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// What it is about: `clock`, `socket`, `memory` or `thread`.
    pub kind: String,
    /// How long the bench took.
    pub elapsed_ns: i64,
    /// A signal ended it early.
    pub interrupted: bool,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What was not, and why.
    pub skipped: Vec<Skipped>,
    /// What the rows mean, the answer first.
    pub verdict: Vec<Statement>,
    /// What a published text reports for the same work.
    pub published: Vec<Published>,
    /// What a reader must know of the numbers.
    pub notes: Vec<String>,
}

/// One operation, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// The operation; unique within the document.
    pub name: String,
    /// Rows of one group belong together.
    pub group: String,
    /// How long an operation took.
    pub ns_per_op: PerOp,
    /// How many operations a sample has. Percentiles are those of samples, each the mean of its operations.
    pub operations_per_sample: u32,
    /// How many samples there are.
    pub samples: u64,
    /// The median of each round of the bench: how much they differ is noise.
    pub round_medians: Vec<f64>,
    /// Of messages: the time until all writes of one have returned, where the operation is the round trip; null for other
    /// operations.
    pub sending_ns: Option<PerOp>,
    /// The times of whole samples.
    pub histogram: Vec<SampleBucket>,
    /// The sum of all samples.
    pub sum_ns: u64,
    /// The least sample.
    pub min_ns: i64,
    /// The longest sample.
    pub max_ns: i64,
    /// Of clocks and clock sources; null for other operations.
    pub clock: Option<Clock>,
}

/// Nanoseconds per operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerOp {
    /// The median.
    pub p50: f64,
    /// The 99th percentile; null with fewer than 100 samples.
    pub p99: Option<f64>,
    /// The longest operation at most: the longest sample without the usual time of its other operations.
    pub max: f64,
    /// The mean.
    pub mean: f64,
}

/// Samples between two times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleBucket {
    /// The smallest time that belongs to it.
    pub from_ns: i64,
    /// The largest.
    pub upto_ns: i64,
    /// How many samples it holds.
    pub count: u64,
}

/// What is known of a clock beside the cost of a reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// The resolution that the kernel claims; null where it could not be read.
    pub resolution_claimed_ns: Option<i64>,
    /// The smallest step between two readings that differ; null where no step was seen.
    pub resolution_seen_ns: Option<i64>,
    /// Readings that were compared with the one before them, of any CPU.
    pub readings: u64,
    /// How many of them were earlier.
    pub steps_backwards: u64,
    /// The largest step backwards.
    pub worst_step_backwards_ns: i64,
    /// Whether a reading makes a system call; null: cannot tell.
    pub makes_system_call: Option<bool>,
    /// The share of the readings' time in the kernel, 0 to 1; null: not measured.
    pub system_share: Option<f64>,
}

/// What was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// Why, and what to do.
    pub reason: String,
}

/// A sentence of the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
    /// An error is a fault of the machine, a warning a cost that can be avoided.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
}

/// A figure of a published text, and this machine's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// What was measured there.
    pub name: String,
    /// The work.
    pub work: String,
    /// How long it took there.
    pub published_ns: i64,
    /// User time there; null where the text has none.
    pub published_user_ns: Option<i64>,
    /// System time there; null where the text has none.
    pub published_system_ns: Option<i64>,
    /// How long it would take here; null where it was not measured.
    pub here_ns: Option<i64>,
    /// User time of that; null where it is not known.
    pub here_user_ns: Option<i64>,
    /// System time of that; null where it is not known.
    pub here_system_ns: Option<i64>,
}
