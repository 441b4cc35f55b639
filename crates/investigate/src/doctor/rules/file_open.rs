//! Files that are opened in the real-time path.

use super::lines::{by_line, times};
use super::purpose::is_name_resolution;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "file-open", page: page!("file-open"), needs: Needs::Calls, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls = observation.path_calls().filter(|(_, call)| is_one(observation, call));
    let lines = by_line(observation, calls);
    lines
        .iter()
        .map(|line| {
            let title = format!("{} opens files in its loop: {}", line.name(), times(line.items.len()));
            line.finding(RULE.code, Severity::Warning, title).because(WHY).fix(FIX)
        })
        .collect()
}

fn is_one(observation: &Observation, call: &Call) -> bool {
    use SystemCall as C;
    let opens = matches!(call.call, C::Open | C::Openat | C::Openat2 | C::Creat);
    opens && !is_name_resolution(observation, call)
}

const WHY: &str = "to open a file the kernel looks up each directory of its path, which may wait for locks and for a device, and allocates memory";

const FIX: &[&str] =
    &["open the file before the loop, and keep it open (lseek() or pread() reads it again from its start)"];
