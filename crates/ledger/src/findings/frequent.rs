//! What made many activations of a thread late, and none of the worst ones: of two faults the smaller one may strike far more
//! often.

use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::causes::info::Usual;
use crate::costs::Cost;
use crate::model::{Activation, Culprit};
use crate::stats::Stats;
use whylate_base::{Evidence, Finding, Ns, Severity, Tid};

/// Fewer show nothing about what is frequent.
const MANY: u64 = 20;
/// In one of so many activations.
const SHARE_OF_ACTIVATIONS: u64 = 4;
/// On average so long, and one part in so many of the time between two activations.
const LONG: Ns = Ns::from_ms(1);
const PART_OF_PERIOD: i64 = 10;
/// What took such a part of one of the worst activations is named there.
const NAMED_PART: i64 = 5;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut threads: Vec<(&Tid, &Vec<&Activation>)> = subject.by_thread.iter().collect();
    threads.sort_by_key(|(tid, _)| **tid);
    let each = threads.into_iter().filter_map(|(&tid, worst)| {
        let thread = subject.timeline.threads.get(tid)?;
        let stats = subject.stats.get(tid).filter(|stats| stats.activations >= MANY)?;
        let length = subject.timeline.now - subject.timeline.first?;
        let period = Ns(length.0 / i64::try_from(stats.activations).ok()?);
        (!subject.looks_after_others(thread)).then(|| of_thread(tid, stats, worst, period))
    });
    each.flatten().collect()
}

fn of_thread(tid: Tid, stats: &Stats, worst: &[&Activation], period: Ns) -> Vec<Finding> {
    let Some(&&Activation { comm, priority, .. }) = worst.first() else { return Vec::new() };
    let is_frequent = |&&((cause, by), cost): &&((Cause, Option<Culprit>), Cost)| {
        let average = cost.average();
        let is_routine = cause.info().details.routine || cause.info().details.usual != Usual::Nothing;
        cause.accuses()
            && !is_routine
            && cost.activations.saturating_mul(SHARE_OF_ACTIVATIONS) >= stats.activations
            && average >= LONG
            && average.0.saturating_mul(PART_OF_PERIOD) >= period.0
            && !worst.iter().any(|activation| is_named(activation, cause, by))
    };
    let late = Culprit::Task { tid, comm, priority };
    let finding = |&((cause, by), cost): &((Cause, Option<Culprit>), Cost)| {
        let what = by.map_or_else(|| cause.code().to_owned(), |by| format!("{} by {by}", cause.code()));
        let advised = Advised {
            priority: Some(priority),
            late: Some((tid, comm)),
            charged: cost.most,
            ..Advised::about(by.as_ref(), None)
        };
        let seen = format!(
            "in {} of {} activations: {} in all, {} at most",
            cost.activations, stats.activations, cost.total, cost.most
        );
        Finding {
            code: cause.code(),
            severity: Severity::Info,
            title: format!("{late} was often late: {what}, by {} on average", cost.average()),
            why: "the worst activations of the thread have another cause".to_owned(),
            evidence: vec![Evidence::general(seen)],
            fix: cause.advice(&advised),
        }
    };
    stats.costs.iter().filter(is_frequent).map(finding).collect()
}

/// True where the verdict on one of the worst activations names the cause, or a finding does.
fn is_named(activation: &Activation, cause: Cause, by: Option<Culprit>) -> bool {
    let charged = activation.ledger.iter().filter(|segment| segment.cause == cause);
    let of_culprit = charged.filter(|segment| segment.by == by).map(|segment| segment.length());
    (activation.verdict.cause, activation.verdict.by) == (cause, by)
        || by.is_some() && of_culprit.sum::<Ns>().0.saturating_mul(NAMED_PART) >= activation.response().0
}
