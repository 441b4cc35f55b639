//! Page faults of code and data that come from files.

use super::page_faults::{COST, count, of_cause};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fault-file", page: page!("fault-file"), needs: Needs::Faults, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let lines = of_cause(observation, FaultCause::File);
    let finding = |line: &super::lines::Line<'_, _>| {
        let title = format!("{}: {} {}", line.name(), count(line), "in code or data of files");
        line.finding(RULE.code, Severity::Warning, title).because(format!("code and constants are read from their files when they are first used, and again after memory was short: {COST}")).fix(FIX)
    };
    lines.iter().map(finding).collect()
}

const FIX: &[&str] = &[
    "lock the code and data before the loop: mlockall(MCL_CURRENT | MCL_FUTURE), or mlock() of the parts that the loop uses",
    "read a mapped file before the loop (MAP_POPULATE, or madvise(MADV_POPULATE_READ) since Linux 5.14)",
];
