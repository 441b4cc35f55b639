//! Threads that pinned themselves before raising their priority, and were stuck behind a real-time one.

use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::model::Segment;
use crate::timeline::settings::STUCK;
use whylate_base::{Evidence, Finding, Ns, Severity};

/// A program whose start takes so much longer hangs.
const LONG: Ns = Ns::from_ms(100);

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let stuck = subject.timeline.threads.iter().filter_map(|thread| {
        let stats = subject.stats.get(thread.tid)?;
        let waits = || stats.costs.iter().filter(|((cause, _), _)| *cause == Cause::PinnedBeforePriority);
        let (by, cost) = waits()
            .filter_map(|((_, by), cost)| Some((by.as_ref()?, cost)))
            .max_by_key(|(_, cost)| cost.total)
            .filter(|(_, cost)| cost.total >= STUCK)?;
        let pinned = thread.pinned_fair?;
        // What worked for most of that time was not stuck, as taskset(1) and chrt(1), of which one starts the other.
        let all: Ns = waits().map(|(_, cost)| cost.total).sum();
        let span = pinned.until.unwrap_or(subject.timeline.now) - pinned.at;
        if all.0.saturating_mul(2) < span.0 {
            return None;
        }
        // The periods that were due meanwhile waited for the same time.
        let held = if cost.total > span { cost.most } else { cost.total };
        let comm = thread.comm_at(pinned.at);
        let raised = match pinned.until {
            Some(_) => "only then did the thread raise its priority",
            None => "it never got to raise its priority",
        };
        let hangs = pinned.until.is_none() || all >= LONG;
        let evidence = Evidence {
            at: Some(pinned.at),
            ..Evidence::general(format!("{comm} called sched_setaffinity as SCHED_OTHER"))
        };
        let worst = subject.by_thread.get(&thread.tid).into_iter().flatten();
        let waited =
            |segment: &&Segment| (segment.cause, &segment.by) == (Cause::PinnedBeforePriority, &Some(*by));
        let cpu = worst.flat_map(|activation| &activation.ledger).find(waited).map(|segment| segment.cpu);
        let of = Advised { charged: cost.most, ..Advised::about(Some(by), cpu) };
        Some(Finding {
            code: Cause::PinnedBeforePriority.code(),
            severity: if hangs { Severity::Error } else { Severity::Warning },
            title: format!("{comm}:{} pinned itself before raising its priority", thread.tid),
            why: format!("{by} held that CPU for {held}: {raised}"),
            evidence: vec![evidence],
            fix: Cause::PinnedBeforePriority.advice(&of),
        })
    });
    stuck.collect()
}
