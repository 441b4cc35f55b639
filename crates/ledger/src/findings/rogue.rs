//! Who made threads late: the culprits of the worst activations' verdicts, each summed over the
//! whole trace. What delays a little now and then, and makes nobody late, is no finding.

use super::Subject;
use crate::cause::Cause;
use crate::model::{Activation, Culprit, Trigger, Verdict};
use crate::verdict::{fix, is_boosted, name};
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{Confidence, Evidence, Finding, Ns, Severity, Tid};

/// A timer interrupt of the CPU's own takes some microseconds, tens on a slow machine.
const LONG_TIMER_INTERRUPT: Ns = Ns::from_us(200);
/// More than this make a list nobody reads.
const MAX_FINDINGS: usize = 8;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut rogues: HashMap<(Cause, Culprit), Vec<&Activation>> = HashMap::new();
    for activation in subject.worst {
        let verdict = &activation.verdict;
        // A thread that never sleeps is delayed by everybody who does his work beside it.
        let sure = verdict.confidence > Confidence::Low && activation.trigger != Trigger::TraceStart;
        if let (true, true, Some(by)) = (accusable(verdict), sure, verdict.by) {
            rogues.entry((verdict.cause, by)).or_default().push(activation);
        }
    }
    let mut rogues: Vec<_> = rogues.into_iter().collect();
    let most = |late: &[&Activation]| late.iter().map(|activation| activation.verdict.charged).max();
    rogues.sort_by_key(|((cause, by), late)| (Reverse(most(late)), *cause, name(by)));
    rogues.truncate(MAX_FINDINGS);
    rogues.into_iter().map(|((cause, by), late)| finding(subject, cause, by, &late)).collect()
}

fn accusable(verdict: &Verdict) -> bool {
    match (verdict.cause, &verdict.by) {
        // A timer interrupt is what wakes the thread; it is worth a word when it takes long.
        (Cause::Irq, Some(Culprit::Irq { irq: None, .. })) => verdict.charged >= LONG_TIMER_INTERRUPT,
        (
            Cause::HigherPriorityTask
            | Cause::EqualPriorityTask
            | Cause::DeadlineTask
            | Cause::StopTask
            | Cause::Irq
            | Cause::Softirq
            | Cause::IrqsDisabled
            | Cause::PreemptionDisabled
            | Cause::LockWait,
            _,
        ) => true,
        _ => false,
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
        name(&Culprit::Task { tid, comm, priority })
    });
    let first = first.unwrap_or_default();
    let whom = match victims.len() {
        1 => first,
        n => format!("{first} and {} more", n - 1),
    };
    let who = name(&by);
    let what = match cause {
        Cause::HigherPriorityTask if is_boosted(subject.engine, &by) => {
            "holds a lock, and with the waiter's priority ran before"
        }
        Cause::HigherPriorityTask => "runs before",
        Cause::EqualPriorityTask => "has the same priority as, and held the CPU from,",
        Cause::DeadlineTask | Cause::StopTask => "goes before every real-time priority, and so before",
        Cause::IrqsDisabled => "disabled interrupts in front of",
        Cause::PreemptionDisabled => "did not give way to",
        Cause::LockWait => "held a lock that was waited for by",
        _ => "interrupted",
    };
    let costs = subject.engine.threads.iter().filter(|thread| victims.binary_search(&thread.tid).is_ok());
    let (mut times, mut total) = (0, Ns::ZERO);
    for cost in costs.filter_map(|thread| thread.stats.as_ref()?.costs.get(&(cause, Some(by)))) {
        times += cost.activations;
        total += cost.total;
    }
    Finding {
        code: cause.code(),
        severity: Severity::Warning,
        title: format!("{who} {what} {whom}: {most} at most"),
        why: match times {
            1 => format!("it delayed one activation, by {total}"),
            _ => format!("it delayed {times} activations by {total} in all"),
        },
        evidence: worst
            .iter()
            .take(3)
            .map(|activation| {
                let what = format!("{} due then: late by {}", activation.comm, activation.verdict.charged);
                Evidence::at(activation.due, activation.cpu, what)
            })
            .collect(),
        fix: worst
            .first()
            .map(|activation| fix(subject.engine, cause, Some(&by), activation.priority))
            .unwrap_or_default(),
    }
}
