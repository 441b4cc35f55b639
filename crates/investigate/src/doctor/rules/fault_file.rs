//! Page faults of code and data that come from files.

use super::page_faults::FaultMistake;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fault-file", page: page!("fault-file"), needs: Needs::Faults, find };

const MISTAKE: FaultMistake = FaultMistake {
    code: RULE.code,
    cause: FaultCause::File,
    place: "in code or data of files",
    why: "code and constants are read from their files when they are first used, and again after memory was short",
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.find(observation)
}

const FIX: &[&str] = &[
    "lock the code and data before the loop: mlockall(MCL_CURRENT | MCL_FUTURE), or mlock() of the parts that the loop uses",
    "read a mapped file before the loop (MAP_POPULATE, or madvise(MADV_POPULATE_READ) since Linux 5.14)",
];
