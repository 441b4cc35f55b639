//! Page faults of memory that is touched for the first time in the real-time path.

use super::page_faults::{COST, count, of_cause};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fault-first-touch", page: page!("fault-first-touch"), needs: Needs::Faults, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let lines = of_cause(observation, FaultCause::FirstTouch);
    let finding = |line: &super::lines::Line<'_, _>| {
        let title =
            format!("{}: {} {}", line.name(), count(line), "in memory that it touches for the first time");
        line.finding(RULE.code, Severity::Warning, title)
            .because(format!(
                "the kernel provides memory when it is touched, not when it is allocated: {COST}"
            ))
            .fix(FIX)
    };
    lines.iter().map(finding).collect()
}

const FIX: &[&str] = &[
    "touch every page before the loop (memset after malloc), or lock it: mlockall(MCL_CURRENT | MCL_FUTURE) or mlock() provides \
     all pages at once",
    "allocate before the loop, and reuse what was allocated",
];
