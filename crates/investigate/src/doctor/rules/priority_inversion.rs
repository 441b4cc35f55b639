//! Priority inversions that happened, as the ledger found them.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{Inversion, Observation};
use crate::doctor::finding::{DoctorFinding, FoundThread};
use std::collections::BTreeMap;
use whylate_base::{Severity, Tid};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "priority-inversion", page: page!("priority-inversion"), needs: Needs::Calls, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let mut cases: BTreeMap<(Tid, Option<Tid>), Vec<&Inversion>> = BTreeMap::new();
    for inversion in &observation.inversions {
        cases.entry((inversion.tid, inversion.owner)).or_default().push(inversion);
    }
    let mut found = Vec::new();
    for ((tid, owner), inversions) in cases {
        let Some(thread) = observation.threads.get(&tid) else { continue };
        let Some(worst) = inversions.iter().max_by_key(|inversion| inversion.lost) else { continue };
        let owner = owner.and_then(|owner| observation.threads.get(&owner));
        let of = owner.map_or_else(String::new, |owner| format!(" of {}", owner.name()));
        let title =
            format!("{} waited for a lock{of}, which {} kept off the CPU", thread.name(), worst.middle);
        let mut finding = DoctorFinding::new(RULE.code, Severity::Error, title)
            .of(thread)
            .at(worst.location.clone())
            .times(inversions.len(), inversions.iter().map(|inversion| inversion.lost).max())
            .because(WHY)
            .fix(FIX);
        finding.other = owner.map(|owner| (FoundThread::from(owner), None));
        found.push(finding);
    }
    found
}

const WHY: &str = "the lock has no priority inheritance: its owner keeps its own low priority while a thread of a higher one \
     waits, and any thread between them delays both, for as long as it likes";

const FIX: &[&str] = &[
    "pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) for the mutex",
    "share no lock between these threads: pass data by a lock-free queue",
];
