//! Page faults of a heap that shrinks and grows.

use super::page_faults::FaultMistake;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fault-heap", page: page!("fault-heap"), needs: Needs::Faults, find };

const MISTAKE: FaultMistake = FaultMistake {
    code: RULE.code,
    cause: FaultCause::Heap,
    place: "in memory that was given back to the kernel and obtained again",
    why: "free() gives large blocks, and the top of the heap, back to the kernel; the next malloc() obtains new pages",
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.find(observation)
}

const FIX: &[&str] = &[
    "keep freed memory: mallopt(M_TRIM_THRESHOLD, -1) and mallopt(M_MMAP_MAX, 0) before the first allocation (glibc)",
    "allocate before the loop, and reuse what was allocated",
];
