//! Page faults of a stack that grows in the real-time path.

use super::page_faults::{COST, count, of_cause};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fault-stack", page: page!("fault-stack"), needs: Needs::Faults, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let lines = of_cause(observation, FaultCause::Stack);
    let finding = |line: &super::lines::Line<'_, _>| {
        let title = format!("{}: {} {}", line.name(), count(line), "as its stack grows");
        line.finding(RULE.code, Severity::Warning, title).because(format!("a stack is provided page by page, when a deeper call or a larger array reaches it for the first time: {COST}")).fix(FIX)
    };
    lines.iter().map(finding).collect()
}

const FIX: &[&str] = &[
    "lock the memory before the thread starts: mlockall(MCL_CURRENT | MCL_FUTURE) provides whole stacks of threads that start later",
    "touch the stack before the loop: a function with a large local array that writes to each page",
    "keep large arrays off the stack",
];
