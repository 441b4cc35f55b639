//! From a measurement's document to a run that can be compared.

use super::document::{CpuResult, Document, SCHEMA, Spike};
use crate::explain::json::document::{By, Class};
use serde::Deserialize;
use std::borrow::Cow;
use whylate_base::{Cpu, Ns};
use whylate_investigate::measure::steady_task;
use whylate_ledger::irq_name;
use whylate_stats::{Bucket, Exact, Histogram, Late, Maxima, Measured, MeasuredLayout, Run};

/// What a document is, read without the rest of it: as a tree of values that takes ten times its length.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    schema: Option<Cow<'a, str>>,
}

/// The run in the text of a document of schema `whylate.measure/1`; `None`: it is another document.
///
/// # Errors
/// Why the text is no JSON, or a document with this schema's name cannot be read.
pub fn run(text: &[u8]) -> Result<Option<Result<Run, serde_json::Error>>, serde_json::Error> {
    let head: Head<'_> = serde_json::from_slice(text)?;
    let is_ours = head.schema.as_deref() == Some(SCHEMA);
    Ok(is_ours.then(|| Ok(Run::from(serde_json::from_slice::<Document>(text)?))))
}

impl From<Document> for Run {
    fn from(document: Document) -> Run {
        let is_unknown = document.spikes.is_empty() && document.over_threshold.is_none();
        Run {
            label: String::new(),
            tool: "whylate measure".to_owned(),
            probe: document.probe.kind,
            interval: Some(Ns(document.probe.interval_ns)),
            elapsed: Some(Ns(document.elapsed_ns)),
            threads: document.cpus.iter().filter_map(thread).collect(),
            spikes: (!is_unknown).then(|| document.spikes.iter().map(late).collect()),
            machine: document.machine.into_iter().map(|setting| (setting.name, setting.value)).collect(),
            notes: Vec::new(),
        }
    }
}

/// `None`: it measured nothing.
fn thread(result: &CpuResult) -> Option<Measured> {
    let known = result.latency_ns?;
    let buckets = result.histogram.iter().map(|bucket| {
        let from =
            MeasuredLayout::bucket_of(Ns(bucket.upto_ns)).map_or(Ns(bucket.upto_ns), MeasuredLayout::lower);
        Bucket { from, upto: Ns(bucket.upto_ns), count: bucket.count }
    });
    let exact = Exact {
        overflow: result.overflow,
        sum: (known.mean.max(0) as u64).saturating_mul(result.samples),
        min: Ns(known.min),
        max: Ns(known.max),
    };
    let maxima = result.maxima.as_ref().map(|maxima| {
        let blocks = maxima.largest_ns.iter().map(|largest| largest.map(Ns)).collect();
        Maxima::of_blocks(Ns(maxima.length_ns), blocks)
    });
    Some(Measured {
        cpu: result.bound.then_some(Cpu(result.cpu)),
        name: if result.bound { format!("CPU {}", result.cpu) } else { format!("thread {}", result.tid) },
        histogram: Histogram::new(buckets, exact).with_limit(MeasuredLayout::LIMIT),
        maxima,
        missed: Some(result.missed),
        is_stage: false,
    })
}

fn late(spike: &Spike) -> Late {
    let verdict = spike.activation.as_ref().map(|activation| &activation.verdict);
    Late {
        cpu: Some(Cpu(spike.cpu)),
        latency: Ns(spike.latency_ns),
        cause: verdict.map(|verdict| verdict.cause.clone()),
        culprit: verdict.and_then(|verdict| verdict.by.as_ref()).map(culprit),
    }
}

/// The same name for the same culprit in two runs: without ids, which change from run to run.
fn culprit(by: &By) -> String {
    match by {
        By::Task { comm, rank, .. } => {
            steady_task(comm, rank.priority.filter(|_| rank.class == Some(Class::Realtime)))
        }
        By::Softirq { name, .. } => format!("softirq {name}"),
        By::Irq { irq, name } => irq_name(*irq, name),
    }
}
