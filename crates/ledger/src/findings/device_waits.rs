//! Real-time threads that wait for a device again and again, for far longer than they usually take.

use super::subject::Subject;
use crate::causes::Cause;
use crate::model::{Activation, Culprit};
use whylate_base::{Confidence, Evidence, Finding, Ns, Severity};

/// Once or twice is an exception.
const OFTEN: usize = 3;
/// A shorter time made few periods late.
const LONG: Ns = Ns::from_ms(1);
/// What is usual, so many times.
const FAR_MORE: i64 = 5;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    subject.of_each_thread(finding)
}

fn finding(subject: &Subject<'_>, worst: &[&Activation]) -> Option<Finding> {
    let usual = subject.stats.get(worst.first()?.tid)?.response.spread()?.p50;
    let is_late = |activation: &&&Activation| {
        let verdict = &activation.verdict;
        verdict.cause == Cause::BlockIo
            && verdict.confidence > Confidence::Low
            && verdict.charged >= LONG
            && verdict.charged.0 >= usual.0.saturating_mul(FAR_MORE)
            && activation.is_period()
            && activation.priority.is_realtime()
    };
    let late: Vec<&Activation> = worst.iter().filter(is_late).copied().collect();
    let most = *late.iter().max_by_key(|activation| activation.verdict.charged)?;
    let Activation { tid, comm, priority, ref verdict, .. } = *most;
    let victim = Culprit::Task { tid, comm, priority };
    let seen = late.iter().take(OFTEN).map(|activation| {
        let what = format!("{comm} was due, and waited {} for a device", activation.verdict.charged);
        Evidence::at(activation.due, activation.cpu, what)
    });
    (late.len() >= OFTEN).then(|| Finding {
        code: Cause::BlockIo.code(),
        severity: Severity::Warning,
        title: format!(
            "{victim} waited for a device again and again: up to {} in one activation",
            verdict.charged
        ),
        why: format!(
            "it is the reason of {} of the worst activations; {usual} is the usual response",
            late.len()
        ),
        evidence: seen.collect(),
        fix: verdict.fix.clone(),
    })
}
