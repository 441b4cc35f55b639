//! Threads and interrupts that delayed the selected threads, summed over the whole trace.

use super::Subject;
use crate::cause::Cause;
use crate::model::Culprit;
use crate::verdict::{advice, name};
use std::collections::HashMap;
use whylate_base::{Evidence, Finding, Ns, Priority, Severity, Tid};

/// Delays shorter than this, at most, are the ordinary life of a priority scheduler.
const NOTABLE: Ns = Ns::from_us(20);
/// More rogues than this make a list nobody reads.
const MAX_FINDINGS: usize = 8;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut rogues: HashMap<(Cause, Culprit), Rogue> = HashMap::new();
    for thread in subject.engine.threads.iter() {
        let Some(stats) = &thread.stats else { continue };
        for (&(cause, by), cost) in &stats.costs {
            let accusable = matches!(
                cause,
                Cause::HigherPriorityTask
                    | Cause::EqualPriorityTask
                    | Cause::DeadlineTask
                    | Cause::StopTask
                    | Cause::Irq
                    | Cause::Softirq
                    | Cause::IrqsDisabled
                    | Cause::PreemptionDisabled
            );
            let (true, Some(by)) = (accusable, by) else { continue };
            let rogue = rogues.entry((cause, by)).or_default();
            rogue.times += cost.activations;
            rogue.total += cost.total;
            rogue.victims.push((cost.total, thread.tid, thread.own_priority()));
            if cost.most > rogue.most {
                (rogue.most, rogue.worst_due, rogue.hurt_most) = (cost.most, cost.worst_due, thread.tid);
            }
        }
    }
    let mut rogues: Vec<((Cause, Culprit), Rogue)> =
        rogues.into_iter().filter(|(_, rogue)| rogue.most >= NOTABLE).collect();
    rogues.sort_by_key(|((cause, by), rogue)| (std::cmp::Reverse(rogue.most), *cause, name(by)));
    rogues.truncate(MAX_FINDINGS);
    rogues.into_iter().map(|((cause, by), rogue)| finding(subject, cause, &by, &rogue)).collect()
}

#[derive(Default)]
struct Rogue {
    times: u64,
    total: Ns,
    most: Ns,
    worst_due: Ns,
    hurt_most: Tid,
    victims: Vec<(Ns, Tid, Priority)>,
}

fn finding(subject: &Subject<'_>, cause: Cause, by: &Culprit, rogue: &Rogue) -> Finding {
    let victim_name = |tid: Tid| {
        let priority = subject.engine.threads.get(tid).map_or(Priority::DEFAULT, |thread| thread.own_priority());
        name(&subject.engine.culprit(tid, priority))
    };
    let first = victim_name(rogue.hurt_most);
    let victims = match rogue.victims.len() {
        1 => first.clone(),
        n => format!("{first} and {} more", n - 1),
    };
    let who = name(by);
    let what = match cause {
        Cause::HigherPriorityTask => "runs before",
        Cause::EqualPriorityTask => "has the same priority as, and held the CPU from,",
        Cause::DeadlineTask | Cause::StopTask => "goes before every real-time priority, and so before",
        Cause::IrqsDisabled => "disabled interrupts in front of",
        Cause::PreemptionDisabled => "did not give way to",
        _ => "interrupted",
    };
    let priority = rogue.victims.iter().max().map_or(Priority::DEFAULT, |victim| victim.2);
    Finding {
        code: cause.code(),
        severity: Severity::Warning,
        title: format!("{who} {what} {victims}: {} at most", rogue.most),
        why: format!("it delayed {} activations by {} in all", rogue.times, rogue.total),
        evidence: vec![Evidence {
            at: Some(rogue.worst_due),
            cpu: None,
            what: format!("worst: the activation of {first} due then, {}", rogue.most),
        }],
        fix: advice(cause, Some(by), priority),
    }
}
