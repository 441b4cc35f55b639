//! Page faults of a stack that grows in the real-time path.

use super::page_faults::FaultMistake;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fault-stack", page: page!("fault-stack"), needs: Needs::Faults, find };

const MISTAKE: FaultMistake = FaultMistake {
    code: RULE.code,
    cause: FaultCause::Stack,
    place: "as its stack grows",
    why: "a stack is provided page by page, when a deeper call or a larger array reaches it for the first time",
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.find(observation)
}

const FIX: &[&str] = &[
    "lock the memory before the thread starts: mlockall(MCL_CURRENT | MCL_FUTURE) provides whole stacks of threads that start later",
    "touch the stack before the loop: a function with a large local array that writes to each page",
    "keep large arrays off the stack",
];
