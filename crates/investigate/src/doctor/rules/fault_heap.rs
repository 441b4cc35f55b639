//! Page faults of a heap that shrinks and grows.

use super::page_faults::{COST, count, of_cause};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fault-heap", page: page!("fault-heap"), needs: Needs::Faults, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let lines = of_cause(observation, FaultCause::Heap);
    let finding = |line: &super::lines::Line<'_, _>| {
        let title = format!(
            "{}: {} {}",
            line.name(),
            count(line),
            "in memory that was given back to the kernel and obtained again"
        );
        line.finding(RULE.code, Severity::Warning, title).because(format!("free() gives large blocks, and the top of the heap, back to the kernel; the next malloc() obtains new pages: {COST}")).fix(FIX)
    };
    lines.iter().map(finding).collect()
}

const FIX: &[&str] = &[
    "keep freed memory: mallopt(M_TRIM_THRESHOLD, -1) and mallopt(M_MMAP_MAX, 0) before the first allocation (glibc)",
    "allocate before the loop, and reuse what was allocated",
];
