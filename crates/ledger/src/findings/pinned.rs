//! Threads that pinned themselves before raising their priority, and were stuck behind a real-time one.

use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::model::Segment;
use crate::timeline::settings::STUCK;
use whylate_base::{Evidence, Finding, Severity};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let stuck = subject.timeline.threads.iter().filter_map(|thread| {
        let stats = subject.stats.get(thread.tid)?;
        let (by, cost) = stats
            .costs
            .iter()
            .filter(|((cause, _), _)| *cause == Cause::PinnedBeforePriority)
            .filter_map(|((_, by), cost)| Some((by.as_ref()?, cost)))
            .max_by_key(|(_, cost)| cost.total)
            .filter(|(_, cost)| cost.total >= STUCK)?;
        let pinned = thread.pinned_fair?;
        let raised = match pinned.until {
            Some(_) => "only then did the thread raise its priority",
            None => "it never got to raise its priority",
        };
        let evidence = Evidence {
            at: Some(pinned.at),
            ..Evidence::general(format!("{} called sched_setaffinity as SCHED_OTHER", pinned.comm))
        };
        let worst = subject.by_thread.get(&thread.tid).into_iter().flatten();
        let waited =
            |segment: &&Segment| (segment.cause, &segment.by) == (Cause::PinnedBeforePriority, &Some(*by));
        let cpu = worst.flat_map(|activation| &activation.ledger).find(waited).map(|segment| segment.cpu);
        let of = Advised { charged: cost.most, ..Advised::about(Some(by), cpu) };
        Some(Finding {
            code: Cause::PinnedBeforePriority.code(),
            severity: Severity::Error,
            title: format!("{}:{} pinned itself before raising its priority", pinned.comm, thread.tid),
            why: format!("{} held that CPU for {}: {raised}", by, cost.total),
            evidence: vec![evidence],
            fix: Cause::PinnedBeforePriority.advice(&of),
        })
    });
    stuck.collect()
}
