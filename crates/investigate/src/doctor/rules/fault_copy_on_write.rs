//! Page faults of pages that are copied because the thread writes to them.

use super::page_faults::FaultMistake;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "fault-copy-on-write",
    page: page!("fault-copy-on-write"),
    needs: Needs::Faults,
    find,
};

const MISTAKE: FaultMistake = FaultMistake {
    code: RULE.code,
    cause: FaultCause::CopyOnWrite,
    place: "in memory that is copied at its first write",
    why: "after fork(2), and in private mappings of files, the first write to a page copies it",
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.find(observation)
}

const FIX: &[&str] = &[
    "do not fork while real-time threads run: start other programs by posix_spawn() from a small helper process, or before the loop",
    "madvise(MADV_DONTFORK) on the memory of the real-time threads keeps it out of children",
    "write to each page of the data once before the loop, or lock it (mlock also copies private pages that are writable)",
];
