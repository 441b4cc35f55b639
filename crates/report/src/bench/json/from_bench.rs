//! A bench as wire types.

use super::document::{Clock, Document, PerOp, Published, Row, SCHEMA, SampleBucket, Skipped, Statement};
use crate::json::ns;
use whylate_base::Ns;
use whylate_probes::bench::{
    BenchReport, BenchRow, BenchVerdict, ClockFacts, OperationTime, PerOperation, PublishedTime, SkippedRow,
};

impl From<&BenchReport> for Document {
    fn from(report: &BenchReport) -> Self {
        Document {
            schema: SCHEMA.to_owned(),
            kind: report.kind.name().to_owned(),
            elapsed_ns: report.elapsed.0,
            interrupted: report.interrupted,
            rows: report.rows.iter().map(Row::from).collect(),
            skipped: report.skipped.iter().map(Skipped::from).collect(),
            verdict: report.verdict.iter().map(Statement::from).collect(),
            published: report.published.iter().map(Published::from).collect(),
            notes: report.notes.clone(),
        }
    }
}

impl From<&BenchRow> for Row {
    fn from(row: &BenchRow) -> Self {
        let buckets = row.samples.buckets().iter();
        Row {
            name: row.name.clone(),
            group: row.group.clone(),
            ns_per_op: PerOp::from(&row.per_operation),
            operations_per_sample: row.operations,
            samples: row.samples.count(),
            round_medians: row.round_medians.iter().copied().map(rounded).collect(),
            sending_ns: row.sending.as_ref().map(PerOp::from),
            histogram: buckets
                .map(|bucket| SampleBucket {
                    from_ns: bucket.from.0,
                    upto_ns: bucket.upto.0,
                    count: bucket.count,
                })
                .collect(),
            sum_ns: row.samples.sum(),
            min_ns: row.samples.min().unwrap_or_default().0,
            max_ns: row.samples.max().unwrap_or_default().0,
            clock: row.clock.as_ref().map(Clock::from),
        }
    }
}

impl From<&PerOperation> for PerOp {
    fn from(per: &PerOperation) -> Self {
        PerOp {
            p50: rounded(per.p50),
            p99: per.p99.map(rounded),
            max: rounded(per.max),
            mean: rounded(per.mean),
        }
    }
}

impl From<&ClockFacts> for Clock {
    fn from(facts: &ClockFacts) -> Self {
        Clock {
            resolution_claimed_ns: ns(facts.resolution_claimed),
            resolution_seen_ns: ns(facts.resolution_seen),
            readings: facts.readings,
            steps_backwards: facts.steps_backwards,
            worst_step_backwards_ns: facts.worst_step_backwards.0,
            makes_system_call: facts.makes_system_call,
            system_share: facts.system_share,
        }
    }
}

impl From<&SkippedRow> for Skipped {
    fn from(row: &SkippedRow) -> Self {
        Skipped { name: row.name.clone(), reason: row.reason.clone() }
    }
}

impl From<&BenchVerdict> for Statement {
    fn from(verdict: &BenchVerdict) -> Self {
        Statement { severity: verdict.severity.into(), text: verdict.text.clone() }
    }
}

impl From<&PublishedTime> for Published {
    fn from(time: &PublishedTime) -> Self {
        let user = |split: Option<(Ns, Ns)>| ns(split.map(|(user, _)| user));
        let system = |split: Option<(Ns, Ns)>| ns(split.map(|(_, system)| system));
        Published {
            name: time.name.clone(),
            work: time.work.clone(),
            published_ns: time.published.0,
            published_user_ns: user(time.published_split),
            published_system_ns: system(time.published_split),
            here_ns: ns(time.here),
            here_user_ns: user(time.here_split),
            here_system_ns: system(time.here_split),
        }
    }
}

/// To the picosecond: no clock shows more.
fn rounded(time: OperationTime) -> f64 {
    (time.0 * 1e3).round() / 1e3
}
