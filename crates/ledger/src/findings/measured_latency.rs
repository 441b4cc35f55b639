//! The largest latencies in a table of another tool, which has neither instants nor causes.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use super::words::severity;
use crate::causes::advised::RECORD;
use std::cmp::Reverse;
use whylate_base::{AdvisedFix, Cpu, Evidence, Finding, Ns};
use whylate_events::{Breakdown, PartKind, Tool};

pub(super) const INFO: FindingInfo =
    FindingInfo { code: "measured-latency", page: page!("measured-latency") };

/// A mean that is shorter is no lateness.
const LONG_MEAN: Ns = Ns::from_us(100);
/// CPUs that are listed.
const LISTED: usize = 16;

/// Rows of `rtla timerlat top`. Where rtla analysed a sample, the table of all adds nothing.
pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let all = &subject.trace.breakdowns;
    if all.iter().any(|one| one.tool == Tool::RtlaTimerlat) {
        return Vec::new();
    }
    let in_scope = |row: &&Breakdown| subject.scope.is_none_or(|scope| scope.has_cpu(row.cpu));
    let rows = all.iter().filter(|row| row.tool == Tool::RtlaTimerlatTop).filter(in_scope);
    let mut rows: Vec<&Breakdown> = rows.collect();
    rows.sort_by_key(|row| (Reverse(row.total), row.cpu));
    rows.first().map(|most| finding(subject, &rows, most)).into_iter().collect()
}

fn finding(subject: &Subject<'_>, rows: &[&Breakdown], most: &Breakdown) -> Finding {
    let mut evidence: Vec<Evidence> = Vec::new();
    for row in rows.iter().take(LISTED) {
        let on_cpu = |what| Evidence {
            cpu: Some(row.cpu).filter(|&cpu| cpu != Cpu::UNKNOWN),
            ..Evidence::general(what)
        };
        evidence.push(on_cpu(format!("{} (line {} of the file)", largest(row), row.line)));
        evidence.extend(on_average(row).map(on_cpu));
    }
    if rows.len() > LISTED {
        evidence.push(Evidence::general(format!("{} more CPUs have less", rows.len() - LISTED)));
    }
    Finding {
        code: INFO.code,
        severity: severity(most.total, subject.options.deadline),
        title: format!("rtla timerlat measured latencies of up to {} on CPU {}", most.total, most.cpu),
        why:
            "the table has the largest latency of each CPU: it shows neither when that was nor what caused it"
                .to_owned(),
        evidence,
        fix: vec![
            AdvisedFix::by_hand(
                "rtla timerlat top --auto US stops at a latency of US, and shows what delayed it: explain that",
                RECORD,
            ),
            AdvisedFix::by_hand(
                "to check or compare the maxima, give the same file to `whylate compare`",
                RECORD,
            ),
        ],
    }
}

/// The largest latencies of a row.
fn largest(row: &Breakdown) -> String {
    let (irq, thread) = (row.time_of(PartKind::IrqLatency), row.time_of(PartKind::Thread));
    let stages = match (irq, thread) {
        (Some(irq), Some(thread)) => format!(
            "the largest latency of the interrupt was {irq}, that of the thread {thread}; they need not be of one sample"
        ),
        (Some(irq), None) => {
            format!("the largest latency of the interrupt was {irq}, and the row has none of the thread")
        }
        (None, Some(thread)) => {
            format!("the largest latency of the thread was {thread}, and the row has none of the interrupt")
        }
        (None, None) => return format!("the largest latency was {}", row.total),
    };
    match irq.max(thread) < Some(row.total) {
        true => format!("{stages}; that of the return to user space was {}", row.total),
        false => stages,
    }
}

/// Where most of the lateness comes from on average, if the means are long: before the interrupt, or after it.
fn on_average(row: &Breakdown) -> Option<String> {
    let (irq, thread) =
        row.time_of(PartKind::MeanIrqLatency).zip(row.time_of(PartKind::MeanThreadLatency))?;
    if thread < LONG_MEAN || irq > thread {
        return None;
    }
    if irq.0.saturating_mul(4) >= thread.0.saturating_mul(3) {
        Some(format!(
            "on average {irq} of {thread} passed before the timer's interrupt: interrupts were disabled, the CPU left an idle \
             state, or the machine stood still; a thread that only runs does not delay it"
        ))
    } else if irq.0.saturating_mul(4) <= thread.0 {
        Some(format!(
            "on average the interrupt came after {irq} of {thread}: the rest passed until the thread ran"
        ))
    } else {
        None
    }
}
