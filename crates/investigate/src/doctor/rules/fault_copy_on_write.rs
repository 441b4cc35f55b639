//! Page faults of pages that are copied because the thread writes to them.

use super::page_faults::{COST, count, of_cause};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{FaultCause, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "fault-copy-on-write",
    page: page!("fault-copy-on-write"),
    needs: Needs::Faults,
    find,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let lines = of_cause(observation, FaultCause::CopyOnWrite);
    let finding = |line: &super::lines::Line<'_, _>| {
        let title =
            format!("{}: {} {}", line.name(), count(line), "in memory that is copied at its first write");
        line.finding(RULE.code, Severity::Warning, title)
            .because(format!(
                "after fork(2), and in private mappings of files, the first write to a page copies it: {COST}"
            ))
            .fix(FIX)
    };
    lines.iter().map(finding).collect()
}

const FIX: &[&str] = &[
    "do not fork while real-time threads run: start other programs by posix_spawn() from a small helper process, or before the loop",
    "madvise(MADV_DONTFORK) on the memory of the real-time threads keeps it out of children",
    "write to each page of the data once before the loop, or lock it (mlock also copies private pages that are writable)",
];
