//! What a bench found.

use super::{BenchKind, OperationTime, PerOperation};
use whylate_base::{Ns, Severity};
use whylate_stats::{Bucket, Exact, Histogram};

/// All that one bench measured.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchReport {
    /// About what.
    pub kind: BenchKind,
    /// How long it took.
    pub elapsed: Ns,
    /// A signal ended it early: rows have fewer samples, or are missing.
    pub interrupted: bool,
    /// What was measured.
    pub rows: Vec<BenchRow>,
    /// What was not, and why.
    pub skipped: Vec<SkippedRow>,
    /// What the rows mean, the answer first.
    pub verdict: Vec<BenchVerdict>,
    /// What a published text reports for the same work.
    pub published: Vec<PublishedTime>,
    /// What a reader must know of the numbers.
    pub notes: Vec<String>,
}

/// One operation, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRow {
    /// Rows of one group belong together.
    pub group: String,
    /// The operation; unique within the report.
    pub name: String,
    /// How many operations a sample has.
    pub operations: u32,
    /// The times of samples.
    pub samples: Histogram,
    /// How long an operation took.
    pub per_operation: PerOperation,
    /// The median of each round: how much they differ is noise.
    pub round_medians: Vec<OperationTime>,
    /// Of a message: how long until all its writes have returned, where the operation is the round trip.
    pub sending: Option<PerOperation>,
    /// Of a clock or a clock source.
    pub clock: Option<ClockFacts>,
}

/// What is known of a clock beside the cost of a reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClockFacts {
    /// The resolution that the kernel claims.
    pub resolution_claimed: Option<Ns>,
    /// The smallest step between two readings that differ: no less than the cost of a reading.
    pub resolution_seen: Option<Ns>,
    /// Readings that were compared with the one before them, of any CPU.
    pub readings: u64,
    /// How many of them were earlier.
    pub steps_backwards: u64,
    /// The largest step backwards.
    pub worst_step_backwards: Ns,
    /// Whether a reading makes a system call; `None`: cannot tell.
    pub makes_system_call: Option<bool>,
    /// The share of the readings' time that was spent in the kernel; `None`: not measured.
    pub system_share: Option<f64>,
}

/// What was not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRow {
    /// Its name.
    pub name: String,
    /// Why, and what to do.
    pub reason: String,
}

/// A sentence of the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchVerdict {
    /// An error is a fault of the machine, a warning a cost that can be avoided.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
}

impl BenchVerdict {
    pub(super) fn new(severity: Severity, text: impl Into<String>) -> BenchVerdict {
        BenchVerdict { severity, text: text.into() }
    }
}

/// A figure of a published text, and this machine's.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedTime {
    /// What was measured: `tsc`, `TCP_NODELAY`.
    pub name: String,
    /// The work: `10,000,000 readings`.
    pub work: String,
    /// How long it took there.
    pub published: Ns,
    /// User and system time there; `None`: the text has none.
    pub published_split: Option<(Ns, Ns)>,
    /// How long it would take here; `None`: not measured.
    pub here: Option<Ns>,
    /// User and system time here.
    pub here_split: Option<(Ns, Ns)>,
}

impl BenchRow {
    /// The times of operations in whole nanoseconds, each the mean of its sample: for plots.
    pub fn operation_times(&self) -> Histogram {
        if self.operations <= 1 {
            return self.samples.clone();
        }
        let per = |sample: Ns| Ns(sample.0 / i64::from(self.operations));
        let mut counts = std::collections::BTreeMap::<Ns, u64>::new();
        for bucket in self.samples.buckets() {
            *counts.entry(per(bucket.from)).or_default() += bucket.count;
        }
        let exact = Exact {
            overflow: self.samples.overflow(),
            sum: self.samples.sum() / u64::from(self.operations),
            min: per(self.samples.min().unwrap_or_default()),
            max: per(self.samples.max().unwrap_or_default()),
        };
        Histogram::new(counts.into_iter().map(|(at, count)| Bucket { from: at, upto: at, count }), exact)
    }
}

impl BenchReport {
    /// Whether the verdict has a fault of the machine.
    pub fn has_fault(&self) -> bool {
        self.verdict.iter().any(|verdict| verdict.severity == Severity::Error)
    }

    /// The row of a name.
    pub fn row(&self, name: &str) -> Option<&BenchRow> {
        self.rows.iter().find(|row| row.name == name)
    }
}
