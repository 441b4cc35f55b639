//! Threads that write to pages which something write-protects again and again.

use super::subject::Subject;
use crate::causes::Cause;
use crate::charge::notes::{protected_by_fork, write_protected};
use crate::model::{Activation, Culprit};
use whylate_base::{Confidence, Evidence, Finding, Ns, Severity};

/// Once or twice is the program's own fork, at its start.
const OFTEN: usize = 3;
/// A shorter time made no period late.
const NOTABLE: Ns = Ns::from_us(200);

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    subject.of_each_thread(finding)
}

fn finding(subject: &Subject<'_>, worst: &[&Activation]) -> Option<Finding> {
    let has_them = |activation: &&&Activation| {
        let verdict = &activation.verdict;
        verdict.cause == Cause::PageFault
            && verdict.confidence > Confidence::Low
            && verdict.charged >= NOTABLE
            && activation.is_period()
            && write_protected(subject.notes(activation)).is_some()
    };
    let late: Vec<&Activation> = worst.iter().filter(has_them).copied().collect();
    let most = *late.iter().max_by_key(|activation| activation.verdict.charged)?;
    let times = write_protected(subject.notes(most))?;
    let Activation { tid, comm, priority, ref verdict, .. } = *most;
    let forked = late.iter().filter(|activation| protected_by_fork(subject.notes(activation))).count();
    let what = match forked.saturating_mul(2) >= late.len() {
        true => "each fork of its process write-protects its pages again",
        false => "something write-protects its pages again and again",
    };
    let victim = Culprit::Task { tid, comm, priority };
    let seen = late.iter().take(OFTEN).map(|activation| {
        let what = format!("{} was due, with {} of page faults", activation.comm, activation.verdict.charged);
        Evidence::at(activation.due, activation.cpu, what)
    });
    (late.len() >= OFTEN).then(|| Finding {
        code: Cause::PageFault.code(),
        severity: Severity::Warning,
        title: format!(
            "{victim} wrote {times} times to write-protected pages in one activation: up to {} of page faults",
            verdict.charged
        ),
        why: format!("it is the reason of {} of the worst activations: {what}", late.len()),
        evidence: seen.collect(),
        fix: verdict.fix.clone(),
    })
}
