//! Priority inversion: a thread waits for a lock whose owner is kept off the CPU by a third.

use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::charge::notes::{other_lock, time_in_the_kernel};
use crate::model::{Culprit, Kin, Segment};
use crate::timeline::sleeps::NoMutex;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use whylate_base::{Confidence, Cpu, Evidence, Finding, Ns, Severity, Tid};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    // Victim and middle threads, of one name and priority; the owner may change from time to time.
    let mut cases: HashMap<(Tid, Kin), Case<'_>> = HashMap::new();
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
            if !matches!(by, Culprit::Task { .. }) {
                continue;
            }
            let case = cases.entry((activation.tid, Kin::of(by))).or_insert_with(|| Case {
                tid: activation.tid,
                victim: format!("{}:{} ({})", activation.comm, activation.tid, activation.priority),
                cpu: segment.cpu,
                middle: BTreeMap::new(),
                owner,
                in_kernel: Ns::ZERO,
                no_mutex: None,
                confidence: verdict.confidence,
                total: Ns::ZERO,
                evidence: Vec::new(),
            });
            case.confidence = case.confidence.max(verdict.confidence);
            case.total += segment.length();
            case.middle.entry(by.to_string()).or_insert((by, Ns::ZERO)).1 += segment.length();
            let other = other_lock(subject.notes(activation), std::iter::once(segment));
            case.no_mutex = case.no_mutex.or(other.map(|(kind, _)| kind));
            case.in_kernel += time_in_the_kernel(subject.notes(activation), segment);
            if case.evidence.len() < 5 {
                let what = format!("{} held the lock and waited {} for {}", owner, segment.length(), by);
                case.evidence.push(Evidence::at(segment.start, segment.cpu, what));
            }
        }
    }
    let mut cases: Vec<(&Culprit, Case<'_>)> =
        cases.into_values().filter_map(|case| Some((case.foremost()?, case))).collect();
    cases.sort_by_key(|(middle, case)| (Reverse(case.total), case.tid, middle.to_string()));
    cases
        .into_iter()
        .map(|(middle, case)| Finding {
            code: Cause::LockInversion.code(),
            // Who ended the wait may have owed something other than a lock.
            severity: if case.confidence == Confidence::High { Severity::Error } else { Severity::Warning },
            title: format!(
                "priority inversion: {} waits for a lock of {}, which {middle}{} off the CPU",
                case.victim,
                case.owner,
                match case.middle.len() {
                    0 | 1 => " keeps".to_owned(),
                    count => format!(" and {} more of that name keep", count - 1),
                }
            ),
            why: format!(
                "the lock has no priority inheritance, so its owner runs at its own priority; the worst activations lost {} this \
                 way",
                case.total
            ),
            evidence: case.evidence,
            fix: Cause::LockInversion.advice(&Advised {
                kernel_lock: case.in_kernel.0.saturating_mul(2) > case.total.0,
                no_mutex: case.no_mutex,
                lock_owner: Some(case.owner),
                ..Advised::about(Some(middle), Some(case.cpu))
            }),
        })
        .collect()
}

struct Case<'a> {
    tid: Tid,
    victim: String,
    /// Where the owner of the lock waited.
    cpu: Cpu,
    /// The threads that kept it off its CPU, by name, and for how long.
    middle: BTreeMap<String, (&'a Culprit, Ns)>,
    owner: &'a Culprit,
    /// What the lock is that is no mutex.
    no_mutex: Option<NoMutex>,
    /// That of the surest of its activations.
    confidence: Confidence,
    /// For how long it waited for locks of the kernel.
    in_kernel: Ns,
    total: Ns,
    evidence: Vec<Evidence>,
}

impl<'a> Case<'a> {
    /// The thread that kept the owner of the lock off its CPU for longest.
    fn foremost(&self) -> Option<&'a Culprit> {
        self.middle.iter().max_by_key(|(name, (_, time))| (*time, Reverse(*name))).map(|(_, (by, _))| *by)
    }
}
