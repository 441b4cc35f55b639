//! What made threads late: the culprits of the worst activations' verdicts, each summed over the whole trace.
//! A small delay that makes no thread late is no finding.

use super::subject::Subject;
use crate::causes::Cause;
use crate::charge::notes::{VerdictNote, is_boosted};
use crate::model::{Activation, Culprit, IrqKind, Trigger, Verdict};
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{Confidence, Evidence, Finding, Ns, Severity, Tid};

/// A timer interrupt of the CPU's own takes some microseconds, tens on a slow machine.
const LONG_TIMER_INTERRUPT: Ns = Ns::from_us(200);
/// A delay below this, and below one part in so many of the period, leaves nearly all of the period as it was.
const MINOR: Ns = Ns::from_us(200);
const MINOR_OF_PERIOD: i64 = 50;
/// So many activations of a thread show how often it has one.
const MANY: i64 = 20;
/// A longer list is not read.
const MAX_FINDINGS: usize = 8;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut culprits: HashMap<(Cause, Culprit), Vec<&Activation>> = HashMap::new();
    for activation in subject.worst {
        let verdict = &activation.verdict;
        // Every other thread of its CPU delays a thread that never sleeps, or that starts a program.
        let sure = verdict.confidence > Confidence::Low
            && activation.trigger != Trigger::TraceStart
            && !activation.starts_program;
        if let (true, true, Some(by)) = (accusable(verdict), sure, verdict.by) {
            culprits.entry((verdict.cause, by)).or_default().push(activation);
        }
    }
    let mut culprits: Vec<_> = culprits.into_iter().collect();
    let most = |late: &[&Activation]| late.iter().map(|activation| activation.verdict.charged).max();
    culprits.sort_by_key(|((cause, by), late)| (Reverse(most(late)), *cause, by.to_string()));
    culprits.truncate(MAX_FINDINGS);
    culprits.into_iter().map(|((cause, by), late)| finding(subject, cause, by, &late)).collect()
}

fn accusable(verdict: &Verdict) -> bool {
    match (verdict.cause, &verdict.by) {
        // A timer interrupt is what wakes the thread; only a long one is a finding.
        (Cause::Irq, Some(by)) if by.irq_kind() != Some(IrqKind::Device) => {
            verdict.charged >= LONG_TIMER_INTERRUPT
        }
        (cause, _) => cause.has_culprit_finding(),
    }
}

fn finding(subject: &Subject<'_>, cause: Cause, by: Culprit, late: &[&Activation]) -> Finding {
    let mut worst: Vec<&Activation> = late.to_vec();
    worst.sort_by_key(|activation| Reverse(activation.verdict.charged));
    let most = worst.first().map_or(Ns::ZERO, |activation| activation.verdict.charged);
    let mut victims: Vec<Tid> = worst.iter().map(|activation| activation.tid).collect();
    victims.dedup();
    victims.sort();
    victims.dedup();
    let first = worst.first().map(|activation| {
        let Activation { tid, comm, priority, .. } = **activation;
        Culprit::Task { tid, comm, priority }.to_string()
    });
    let first = first.unwrap_or_default();
    let whom = match victims.len() {
        1 => first.clone(),
        n => format!("{first} and {} more", n - 1),
    };
    let inherited = worst.first().is_some_and(|activation| is_boosted(subject.notes(activation), &by));
    let reason = match cause.info().details.culprit_finding {
        Some(_) if cause == Cause::HigherPriorityTask && inherited => "higher priority, inherited by a lock",
        reason => reason.unwrap_or(cause.code()),
    };
    let look_after_others = |tid: &Tid| {
        subject.timeline.threads.get(*tid).is_some_and(|thread| subject.looks_after_others(thread))
    };
    let costs = victims.iter().filter_map(|&tid| subject.stats.get(tid)?.costs.get(&(cause, Some(by))));
    let (mut times, mut total, mut most) = (0, Ns::ZERO, most);
    for cost in costs {
        times += cost.activations;
        total += cost.total;
        // It may have delayed one for longer in which another cause took even more time.
        most = most.max(cost.most);
    }
    let matters = |tid: &Tid| !look_after_others(tid) && !is_minor(subject, *tid, most);
    let missed = subject
        .options
        .deadline
        .is_some_and(|deadline| worst.iter().any(|activation| activation.response() > deadline));
    let called = worst.iter().all(|activation| is_called(subject, activation, &by));
    let severity = match missed || (!called && victims.iter().any(matters)) {
        true => Severity::Warning,
        false => Severity::Info,
    };
    let request = called.then(|| {
        let what =
            format!("{first} woke {by} itself each time: if it waits for an answer of it, that is no delay");
        Evidence::general(what)
    });
    Finding {
        code: cause.code(),
        severity,
        title: format!("{by} delayed {whom} by up to {most}: {reason}"),
        why: match times {
            1 => format!("it delayed one activation by {total}"),
            _ => format!("it delayed {times} activations by {total} in all"),
        },
        evidence: worst
            .iter()
            .take(3)
            .map(|activation| {
                let what = format!("{} was due, and late by {}", activation.comm, activation.verdict.charged);
                Evidence::at(activation.due, activation.cpu, what)
            })
            .chain(request)
            .collect(),
        fix: worst.first().map(|activation| activation.verdict.fix.clone()).unwrap_or_default(),
    }
}

/// True where the late thread woke the culprit itself in this activation: a client and its server, which answers at once.
fn is_called(subject: &Subject<'_>, activation: &Activation, by: &Culprit) -> bool {
    let of = |note: &VerdictNote| matches!((note, by), (VerdictNote::Called(called), Culprit::Task { tid, .. }) if called == tid);
    subject.notes(activation).iter().any(of)
}

/// The mean time from one activation of a thread to the next, where it has many.
fn mean_distance(subject: &Subject<'_>, tid: Tid) -> Option<Ns> {
    let activations = subject.stats.get(tid)?.activations;
    let length = subject.timeline.now - subject.timeline.first?;
    let count = i64::try_from(activations).ok().filter(|count| *count >= MANY)?;
    Some(Ns(length.0 / count))
}

/// True of a delay that is small, and small beside the period of the thread: that of its own timer, or the mean time from
/// one activation to the next.
fn is_minor(subject: &Subject<'_>, victim: Tid, delay: Ns) -> bool {
    let thread = subject.timeline.threads.get(victim);
    let own = thread.and_then(|thread| thread.pacing.mean_period());
    let period = own.or_else(|| mean_distance(subject, victim));
    delay < MINOR && period.is_some_and(|period| delay.0.saturating_mul(MINOR_OF_PERIOD) < period.0)
}
