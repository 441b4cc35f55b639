//! What made threads late: the culprits of the worst activations, each summed over the whole trace. Those are the culprits
//! of their verdicts, and others that had a notable share: of two faults in the same activations, one has the verdicts.
//! A small delay that makes no thread late is no finding.

mod finding;
mod fix;
mod group;
pub(super) mod kin;
mod reason;
mod severity;

use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::info::Usual;
use crate::charge::notes::is_called;
use crate::model::{Activation, Culprit, IrqKind, Kin, Segment};
use crate::stats;
use group::Group;
use kin::{Accused, is_of_verdict};
use severity::MINOR;
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{Confidence, Finding, Ns};

/// A timer interrupt of the CPU's own takes some microseconds, tens on a slow machine.
const LONG_INTERRUPT: Ns = Ns::from_us(200);
/// A second culprit had at least so large a part of the response.
const NOTABLE_PART: i64 = 5;
/// A longer list is not read.
const MAX_FINDINGS: usize = 8;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut culprits: HashMap<(Cause, Kin), Accused<'_>> = HashMap::new();
    for activation in subject.worst {
        let verdict = &activation.verdict;
        // Every other thread of its CPU delays a thread that never sleeps, or that starts a program.
        if !activation.is_period() {
            continue;
        }
        let sure = verdict.confidence > Confidence::Low && accusable(activation);
        let first = verdict.by.filter(|_| sure).map(|by| ((verdict.cause, by), verdict.charged));
        for ((cause, by), charged) in first.into_iter().chain(seconds(subject, activation)) {
            culprits.entry((cause, Kin::of(&by))).or_default().take_in(activation, cause, by, charged);
        }
    }
    let mut culprits: Vec<_> = culprits
        .into_iter()
        .filter_map(|((cause, _), accused)| Some((cause, accused.foremost()?, accused)))
        .collect();
    culprits.sort_by_key(|(cause, by, accused)| (Reverse(accused.most()), *cause, by.to_string()));
    culprits.truncate(MAX_FINDINGS);
    let groups = culprits.into_iter().map(|(cause, by, accused)| Group::new(subject, cause, by, accused));
    groups.map(|group| finding::of(&group)).collect()
}

/// What other threads took of an activation beside what its verdict accuses, surely and in a notable part.
fn seconds(subject: &Subject<'_>, activation: &Activation) -> Vec<((Cause, Culprit), Ns)> {
    let verdict = &activation.verdict;
    // A SCHED_OTHER thread that works for long has its turns with all others meanwhile.
    let is_its_own = verdict.cause.accuses_late_thread();
    if !verdict.cause.accuses() || is_its_own && !activation.priority.is_realtime() {
        return Vec::new();
    }
    // What it sets to work itself is a part of that.
    let is_its_helper = |by: Culprit| is_its_own && is_called(subject.notes(activation), Some(by));
    let is_second = |(cause, by): (Cause, Culprit), charged: Ns| {
        let of_group = |segment: &&Segment| (segment.cause, segment.by) == (cause, Some(by));
        !is_of_verdict(activation, cause, by)
            && !is_its_helper(by)
            && cause.has_culprit_finding()
            && cause.info().details.usual == Usual::Nothing
            && charged >= MINOR
            && charged.0.saturating_mul(NOTABLE_PART) >= activation.response().0
            && activation.ledger.iter().filter(of_group).all(|segment| segment.confidence > Confidence::Low)
    };
    let groups = stats::charged(&activation.ledger).into_iter();
    let named = groups.filter_map(|((cause, by), charged)| Some(((cause, by?), charged)));
    named.filter(|&(key, charged)| is_second(key, charged)).collect()
}

fn accusable(activation: &Activation) -> bool {
    let verdict = &activation.verdict;
    let wakes = |by: &Culprit| {
        by.irq_kind() != Some(IrqKind::Device) || by.is_irq_of_thread(activation.comm.as_str())
    };
    match (verdict.cause, &verdict.by) {
        // A timer interrupt is what wakes the thread, and so is that of an interrupt's thread; only a long one is a finding.
        (Cause::Irq, Some(by)) if wakes(by) => verdict.charged >= LONG_INTERRUPT,
        (cause, _) => cause.has_culprit_finding(),
    }
}
