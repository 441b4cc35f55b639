//! What made activations late that are not among the worst ones: of two faults one has all of these, and the other may delay as many,
//! or be the one to mend first.

use super::culprits::kin::title;
use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::causes::info::Usual;
use crate::charge::notes;
use crate::costs::Cost;
use crate::model::{Activation, Culprit, Kin};
use crate::stats::Stats;
use crate::timeline::Timeline;
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{Evidence, Finding, Ns, Severity, Tid};

/// With fewer activations the worst ones are most of them.
const MANY: u64 = 20;
/// What is frequent is in one of so many activations.
const SHARE_OF_ACTIVATIONS: u64 = 4;
/// What is part of more than one in so many is usual for the thread.
const USUAL: u64 = 2;
/// A delay of so many times the average one of that culprit is not the usual one.
const FAR_BEYOND: i64 = 4;
/// A SCHED_OTHER thread has the CPU for a slice (`base_slice_ns`, `kernel/sched/fair.c`) up to the next tick, some 4 ms: what took
/// longer was no single turn.
const LONG_TURNS: Ns = Ns::from_ms(5);
/// So long, and one part in so many of the time between two activations.
const LONG: Ns = Ns::from_ms(1);
const PART_OF_PERIOD: i64 = 10;
/// What took such a part of one of the worst activations is named there.
const NAMED_PART: i64 = 5;
/// A longer list is not read.
const MOST_FINDINGS: usize = 3;

type Charged<'a> = &'a ((Cause, Option<Culprit>), Cost);

/// A thread, and its worst activations.
struct Late<'a> {
    stats: &'a Stats,
    worst: &'a [&'a Activation],
    thread: Culprit,
    advised: Advised<'a>,
    period: Ns,
    timeline: &'a Timeline,
}

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    // Where events were lost, a sum over all activations is of what was not seen as well.
    let Some(first) = subject.timeline.first else { return Vec::new() };
    let now = subject.timeline.now;
    if subject.trace.lost_events > 0 || subject.timeline.losses.any_between(None, first, now) {
        return Vec::new();
    }
    let mut threads: Vec<(&Tid, &Vec<&Activation>)> = subject.by_thread.iter().collect();
    threads.sort_by_key(|(tid, _)| **tid);
    let each = threads.into_iter().filter_map(|(&tid, worst)| {
        let thread = subject.timeline.threads.get(tid)?;
        let stats = subject.stats.get(tid).filter(|stats| stats.activations >= MANY)?;
        let length = now - first;
        let period = Ns(length.0 / i64::try_from(stats.activations).ok()?);
        let &&Activation { comm, priority, .. } = worst.first()?;
        let advised = Advised { priority: Some(priority), late: Some((tid, comm)), ..Advised::general() };
        if subject.looks_after_others(thread) {
            return None;
        }
        let thread = Culprit::Task { tid, comm, priority };
        Some(Late { stats, worst, thread, advised, period, timeline: subject.timeline })
    });
    each.flat_map(|late| [late.by_others(), late.frequent()].concat()).collect()
}

impl Late<'_> {
    /// What took a notable time, and is in the evidence of none of the worst activations.
    fn unnamed(&self) -> impl Iterator<Item = Charged<'_>> {
        self.stats.costs.iter().filter(|((cause, by), cost)| {
            let details = &cause.info().details;
            let is_routine = details.routine && !self.is_turn_beside_fault(*cause);
            let is_routine = is_routine || details.usual != Usual::Nothing;
            let is_named = || self.worst.iter().any(|activation| is_named(activation, *cause, *by));
            cause.accuses() && !is_routine && cost.unsure.0.saturating_mul(2) < cost.total.0 && !is_named()
        })
    }

    fn is_notable(&self, time: Ns) -> bool {
        time >= LONG && time.0.saturating_mul(PART_OF_PERIOD) >= self.period.0
    }

    fn is_usual(&self, cost: &Cost) -> bool {
        let is_frequent = cost.activations.saturating_mul(USUAL) > self.stats.activations;
        is_frequent && cost.most.0 < cost.average().0.saturating_mul(FAR_BEYOND)
    }

    /// True of a cause that has no finding of its own, as SCHED_OTHER threads always take turns. Where most of the worst activations have
    /// another one, such as a quota, a turn that took far longer than usual is a second fault, and would be named nowhere.
    fn is_turn_beside_fault(&self, cause: Cause) -> bool {
        let has_fault = |worst: &&&Activation| {
            let verdict = &worst.verdict;
            verdict.cause.accuses() && !verdict.cause.accuses_late_thread() && !verdict.fix.is_empty()
        };
        let faults = self.worst.iter().filter(has_fault).count();
        is_turn(cause) && faults.saturating_mul(2) > self.worst.len()
    }

    /// Others that delayed it now and then: threads of one program are one culprit.
    fn by_others(&self) -> Vec<Finding> {
        let mut culprits: HashMap<(Cause, Kin), Vec<(Culprit, &Cost)>> = HashMap::new();
        for ((cause, by), cost) in self.unnamed() {
            let has_finding = cause.has_culprit_finding() || is_turn(*cause);
            if let Some(by) = by.filter(|_| has_finding && (is_turn(*cause) || !self.is_usual(cost))) {
                culprits.entry((*cause, Kin::of(&by))).or_default().push((by, cost));
            }
        }
        let most = culprits.into_iter().filter_map(|((cause, _), all)| {
            let &(by, worst) = all.iter().max_by_key(|(by, cost)| (cost.most, Reverse(by.to_string())))?;
            let is_notable = self.is_notable(worst.most) && (!is_turn(cause) || worst.most >= LONG_TURNS);
            is_notable.then_some((worst.most, cause, by, all))
        });
        let mut most: Vec<_> = most.collect();
        most.sort_by_key(|(most, cause, by, _)| (Reverse(*most), *cause, by.to_string()));
        most.truncate(MOST_FINDINGS);
        most.into_iter().map(|(most, cause, by, all)| self.by_culprit(cause, by, most, &all)).collect()
    }

    fn by_culprit(&self, cause: Cause, by: Culprit, most: Ns, all: &[(Culprit, &Cost)]) -> Finding {
        let reason = cause.info().details.culprit_finding.unwrap_or("the turns of SCHED_OTHER threads");
        let total: Ns = all.iter().map(|(_, cost)| cost.total).sum();
        let times: u64 = all.iter().map(|(_, cost)| cost.activations).sum();
        let brief = Some(by).filter(|by| self.timeline.is_brief(by));
        let mut kept =
            self.stats.worst.iter().filter(|kept| charged(&kept.activation, cause, Some(by)) > Ns::ZERO);
        let carrier = kept.find_map(|kept| notes::carrier(&kept.notes));
        let in_worst = self.worst.iter().map(|worst| charged(worst, cause, Some(by)));
        let in_worst: Vec<Ns> = in_worst.filter(|charged| *charged > Ns::ZERO).collect();
        let (why, among) = match in_worst.iter().max() {
            None => (
                format!("the worst activations have another cause; in others it took {total} in all"),
                "of which none is among the worst".to_owned(),
            ),
            Some(most) => (
                format!("the verdicts on the worst activations name another cause; it took {total} in all"),
                format!("{} of them among the worst (up to {most} there)", in_worst.len()),
            ),
        };
        Finding {
            code: cause.code(),
            severity: if is_turn(cause) { Severity::Info } else { Severity::Warning },
            title: title(&by.to_string(), all.len(), &self.thread.to_string(), most, reason),
            why,
            evidence: vec![Evidence::general(format!(
                "in {times} of {} activations, {among}",
                self.stats.activations
            ))],
            fix: cause.advice(&Advised { by: Some(&by), charged: most, brief, carrier, ..self.advised }),
        }
    }

    /// What made it late in many activations.
    fn frequent(&self) -> Vec<Finding> {
        let frequent = self.unnamed().filter(|(_, cost)| {
            cost.activations.saturating_mul(SHARE_OF_ACTIVATIONS) >= self.stats.activations
                && self.is_notable(cost.average())
        });
        let unsaid = frequent.filter(|((cause, by), cost)| {
            !is_turn(*cause) && (by.is_none() || !cause.has_culprit_finding() || self.is_usual(cost))
        });
        let finding = |&((cause, by), cost): Charged<'_>| {
            let what = by.map_or_else(|| cause.code().to_owned(), |by| format!("{} by {by}", cause.code()));
            Finding {
                code: cause.code(),
                severity: Severity::Info,
                title: format!("{} was often late: {what}, by {} on average", self.thread, cost.average()),
                why: "the worst activations of the thread have another cause".to_owned(),
                evidence: vec![Evidence::general(format!(
                    "in {} of {} activations: {} in all, {} at most",
                    cost.activations, self.stats.activations, cost.total, cost.most
                ))],
                fix: cause.advice(&Advised { by: by.as_ref(), charged: cost.most, ..self.advised }),
            }
        };
        unsaid.map(finding).collect()
    }
}

/// True of the turns that threads take.
fn is_turn(cause: Cause) -> bool {
    let details = &cause.info().details;
    details.routine && details.culprit_runs_first
}

/// True where the verdict on one of the worst activations names the cause, or a finding does.
fn is_named(activation: &Activation, cause: Cause, by: Option<Culprit>) -> bool {
    let of_verdict = activation.verdict.cause == cause && are_kin(activation.verdict.by, by);
    let is_part = || charged(activation, cause, by).0.saturating_mul(NAMED_PART) >= activation.response().0;
    of_verdict || by.is_some() && (is_part() || cause == Cause::LockWait && is_owner(activation, by))
}

/// True where the verdict is on time in which a lock of the culprit or its kin was waited for: it names the owner.
fn is_owner(activation: &Activation, by: Option<Culprit>) -> bool {
    let mut of_verdict = activation.ledger.iter().filter(|segment| segment.cause == activation.verdict.cause);
    of_verdict.any(|segment| are_kin(segment.owner, by))
}

/// What a culprit and its kin took of an activation.
fn charged(activation: &Activation, cause: Cause, by: Option<Culprit>) -> Ns {
    let of_kin = activation.ledger.iter().filter(|segment| segment.cause == cause && are_kin(segment.by, by));
    of_kin.map(|segment| segment.length()).sum()
}

fn are_kin(one: Option<Culprit>, other: Option<Culprit>) -> bool {
    one.map(|by| Kin::of(&by)) == other.map(|by| Kin::of(&by))
}
