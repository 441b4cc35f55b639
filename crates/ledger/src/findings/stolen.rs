//! Time in which nothing happened at all, summed over the selected threads.

use super::subject::Subject;
use super::words::suspect;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::model::Activation;
use whylate_base::{Evidence, Finding, Ns, Severity, Tid};

/// Shorter intervals are no finding of their own.
const NOTABLE: Ns = Ns::from_us(50);
/// In one activation, less than one part in so many of that, or of the worst delay of the same thread, is a note.
const LITTLE: i64 = 100;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let (mut total, mut times, mut longest) = (Ns::ZERO, 0, (Ns::ZERO, Ns::ZERO));
    let mut severity = Severity::Info;
    for (thread, stats) in
        subject.timeline.threads.iter().filter_map(|thread| Some((thread, subject.stats.get(thread.tid)?)))
    {
        longest = longest.max(stats.longest_theft);
        if let Some(cost) = stats.costs.get(&(Cause::Stolen, None)) {
            total += cost.total;
            times += cost.activations;
            if cost.activations > 1 || !is_little(subject, thread.tid, cost.total) {
                severity = Severity::Warning;
            }
        }
    }
    let (most, at) = longest;
    if most < NOTABLE {
        return Vec::new();
    }
    vec![Finding {
        code: Cause::Stolen.code(),
        severity,
        title: format!(
            "CPUs stood still when timers or wake-ups were due: {most} at once, {total} in all, in {times} activations"
        ),
        why: suspect(subject.timeline.hypervisor).to_owned(),
        evidence: vec![Evidence {
            at: Some(at),
            ..Evidence::general(format!("nothing happened for {most}"))
        }],
        fix: Cause::Stolen.advice(&Advised::general()),
    }]
}

/// True of a theft that is nothing beside what made the thread late, or in the activation that it hit.
fn is_little(subject: &Subject<'_>, tid: Tid, stolen: Ns) -> bool {
    let others = |cause: Cause| cause != Cause::Stolen && cause.accuses() && !cause.accuses_late_thread();
    let beside = |activation: &&Activation| {
        let is_hit = activation.ledger.iter().any(|segment| segment.cause == Cause::Stolen);
        match activation.is_period() && others(activation.verdict.cause) {
            true => activation.verdict.charged,
            false if is_hit => activation.response(),
            false => Ns::ZERO,
        }
    };
    let most = subject.by_thread.get(&tid).into_iter().flatten().map(beside).max();
    stolen.0.saturating_mul(LITTLE) < most.unwrap_or(Ns::ZERO).0
}
