//! Priority inversion: a thread waits for a lock whose owner is kept off the CPU by a third.

use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::charge::notes::waits_for_the_kernel;
use crate::model::{Culprit, Segment};
use std::collections::BTreeMap;
use whylate_base::{Confidence, Cpu, Evidence, Finding, Ns, Severity, Tid};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    // Victim and middle thread; the owner may change from time to time.
    let mut cases: BTreeMap<(Tid, Tid), Case<'_>> = BTreeMap::new();
    let inverted = subject.worst.iter().filter(|activation| {
        // Whether it was a lock at all may be doubtful.
        activation.verdict.cause == Cause::LockInversion
            && activation.verdict.confidence > Confidence::Low
            && !activation.is_start_or_end()
            && !subject.precedes_real_time(activation)
    });
    for activation in inverted {
        let verdict = &activation.verdict;
        let inverted = |segment: &&Segment| (segment.cause, segment.by) == (verdict.cause, verdict.by);
        for segment in activation.ledger.iter().filter(inverted) {
            let (Some(by), Some(owner)) = (&segment.by, &segment.owner) else { continue };
            let Culprit::Task { tid, .. } = by else { continue };
            let case = cases.entry((activation.tid, *tid)).or_insert_with(|| Case {
                victim: format!("{}:{} ({})", activation.comm, activation.tid, activation.priority),
                cpu: segment.cpu,
                middle: by,
                owner,
                kernel_lock: false,
                total: Ns::ZERO,
                evidence: Vec::new(),
            });
            case.total += segment.length();
            case.kernel_lock |= waits_for_the_kernel(subject.notes(activation), std::iter::once(segment));
            if case.evidence.len() < 5 {
                let what = format!("{} held the lock and waited {} for {}", owner, segment.length(), by);
                case.evidence.push(Evidence::at(segment.start, segment.cpu, what));
            }
        }
    }
    cases
        .into_values()
        .map(|case| Finding {
            code: Cause::LockInversion.code(),
            severity: Severity::Error,
            title: format!(
                "priority inversion: {} waits for a lock of {}, which {} keeps off the CPU",
                case.victim,
                case.owner,
                case.middle
            ),
            why: format!(
                "the lock has no priority inheritance, so its owner runs at its own priority; the worst activations lost {} this \
                 way",
                case.total
            ),
            evidence: case.evidence,
            fix: Cause::LockInversion.advice(&Advised {
                kernel_lock: case.kernel_lock,
                lock_owner: Some(case.owner),
                ..Advised::about(Some(case.middle), Some(case.cpu))
            }),
        })
        .collect()
}

struct Case<'a> {
    victim: String,
    /// Where the owner of the lock waited.
    cpu: Cpu,
    middle: &'a Culprit,
    owner: &'a Culprit,
    kernel_lock: bool,
    total: Ns,
    evidence: Vec<Evidence>,
}
