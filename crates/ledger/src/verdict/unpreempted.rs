//! A SCHED_OTHER thread waited for its turn behind a thread that real-time threads could not preempt either.

use crate::causes::Cause;
use crate::model::{Activation, Culprit, thread_name};
use std::collections::HashMap;
use whylate_base::{AdvisedFix, Confidence, Evidence, Ns};

/// What a real-time thread waited for behind a culprit that was not preempted.
struct Section {
    waiter: String,
    charged: Ns,
    fix: Vec<AdvisedFix>,
}

/// Adds to the verdicts that advise a real-time priority that it does not help alone, where another verdict shows that.
pub(crate) fn add_to_verdicts(activations: &mut [Activation]) {
    let mut sections: HashMap<Culprit, Section> = HashMap::new();
    for late in activations.iter() {
        let verdict = &late.verdict;
        let is_sure = verdict.confidence > Confidence::Low && !verdict.fix.is_empty();
        let is_section = verdict.cause == Cause::PreemptionDisabled && late.priority.is_realtime() && is_sure;
        let Some(by) = verdict.by.filter(|_| is_section) else { continue };
        if sections.get(&by).is_none_or(|section| section.charged < verdict.charged) {
            let name = thread_name(&late.comm, late.tid);
            let waiter = format!("{name} ({})", late.priority);
            sections.insert(by, Section { waiter, charged: verdict.charged, fix: verdict.fix.clone() });
        }
    }
    for late in activations.iter_mut() {
        let verdict = &mut late.verdict;
        let is_turn = verdict.cause == Cause::FairQueue && !verdict.fix.is_empty();
        let Some(by) = verdict.by.filter(|_| is_turn) else { continue };
        // Where it can be preempted for most of its time, a priority helps for most of it.
        let is_most = |section: &&Section| section.charged.0.saturating_mul(2) >= verdict.charged.0;
        let Some(section) = sections.get(&by).filter(is_most) else { continue };
        let Section { waiter, charged, fix } = section;
        let seen = format!("{waiter} waited {charged} for that thread as well, which was not preempted");
        verdict.evidence.push(Evidence::general(seen));
        for own in &mut verdict.fix {
            own.text += "; alone that does not help, as the other thread is not preempted";
        }
        verdict.fix.splice(0..0, fix.iter().cloned());
    }
}
