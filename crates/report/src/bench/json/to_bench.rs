//! A bench of its document, to compare it.

use super::document::{Document, PerOp, Row, SCHEMA};
use whylate_base::Ns;
use whylate_probes::bench::{BenchReport, BenchRow, OperationTime, PerOperation};
use whylate_stats::{Bucket, Exact, Histogram, MeasuredLayout};

/// The bench in a document; `None` where the bytes are none of this schema.
///
/// # Errors
/// A document of this schema that cannot be read as such.
pub fn bench(bytes: &[u8]) -> Option<Result<BenchReport, String>> {
    #[derive(serde::Deserialize)]
    struct Schema {
        schema: String,
    }
    let Schema { schema } = serde_json::from_slice(bytes).ok()?;
    (schema == SCHEMA).then(|| {
        let document: Document = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        report(&document)
    })
}

fn report(document: &Document) -> Result<BenchReport, String> {
    Ok(BenchReport {
        kind: document.kind.parse()?,
        elapsed: Ns(document.elapsed_ns),
        interrupted: document.interrupted,
        rows: document.rows.iter().map(row).collect(),
        // What is compared are the rows.
        skipped: Vec::new(),
        verdict: Vec::new(),
        published: Vec::new(),
        notes: Vec::new(),
    })
}

fn row(row: &Row) -> BenchRow {
    let buckets = row.histogram.iter().map(|bucket| Bucket {
        from: Ns(bucket.from_ns),
        upto: Ns(bucket.upto_ns),
        count: bucket.count,
    });
    let counted = row.histogram.iter().fold(0u64, |all, bucket| all.saturating_add(bucket.count));
    let exact = Exact {
        overflow: row.samples.saturating_sub(counted),
        sum: row.sum_ns,
        min: Ns(row.min_ns),
        max: Ns(row.max_ns),
    };
    BenchRow {
        group: row.group.clone(),
        name: row.name.clone(),
        operations: row.operations_per_sample,
        samples: Histogram::new(buckets, exact).with_limit(MeasuredLayout::LIMIT),
        per_operation: per_operation(&row.ns_per_op),
        round_medians: row.round_medians.iter().copied().map(OperationTime).collect(),
        sending: row.sending_ns.as_ref().map(per_operation),
        clock: None,
    }
}

fn per_operation(per: &PerOp) -> PerOperation {
    PerOperation {
        p50: OperationTime(per.p50),
        p99: per.p99.map(OperationTime),
        max: OperationTime(per.max),
        mean: OperationTime(per.mean),
    }
}
