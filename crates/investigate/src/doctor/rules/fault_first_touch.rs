//! Page faults of memory that is touched for the first time in the real-time path.

use super::page_faults::FaultMistake;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fault-first-touch", page: page!("fault-first-touch"), needs: Needs::Faults, find };

const MISTAKE: FaultMistake = FaultMistake {
    code: RULE.code,
    cause: FaultCause::FirstTouch,
    place: "in memory that it touches for the first time",
    why: "the kernel provides memory when it is touched, not when it is allocated",
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.find(observation)
}

const FIX: &[&str] = &[
    "touch every page before the loop (memset after malloc), or lock it: mlockall(MCL_CURRENT | MCL_FUTURE) or mlock() provides \
     all pages at once",
    "allocate before the loop, and reuse what was allocated",
];
