//! Files that are opened in the real-time path.

use super::lines::Mistake;
use super::purpose::is_name_resolution;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "file-open", page: page!("file-open"), needs: Needs::Calls, find };

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Warning,
    does: "opens files in its loop",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.of_path_calls(observation, is_one)
}

fn is_one(observation: &Observation, call: &Call) -> bool {
    use SystemCall as C;
    let opens = matches!(call.call, C::Open | C::Openat | C::Openat2 | C::Creat);
    opens && !is_name_resolution(observation, call)
}

const WHY: &str = "to open a file the kernel looks up each directory of its path, which may wait for locks and for a device, and allocates memory";

const FIX: &[&str] =
    &["open the file before the loop, and keep it open (lseek() or pread() reads it again from its start)"];
