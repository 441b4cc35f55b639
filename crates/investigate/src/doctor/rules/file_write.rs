//! Writes to files in the real-time path.

use super::lines::Mistake;
use super::purpose::is_name_resolution;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Descriptor, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "file-write", page: page!("file-write"), needs: Needs::Calls, find };

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Warning,
    does: "writes to a file in its loop",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.of_path_calls(observation, is_one)
}

fn is_one(observation: &Observation, call: &Call) -> bool {
    use SystemCall as C;
    let writes =
        matches!(call.call, C::Write | C::Writev | C::Pwrite | C::Pwritev) && !matches!(call.fd(), 1 | 2);
    // Other files (of sysfs and proc, as GPIO lines) are no storage.
    let is_storage = || match observation.descriptor(call.tid, call.fd(), call.start) {
        Some(Descriptor::File(path)) => !["/proc/", "/sys/"].iter().any(|start| path.starts_with(start)),
        _ => false,
    };
    writes && is_storage() && !is_name_resolution(observation, call)
}

const WHY: &str = "a write waits for the lock of the file, for memory, for the journal of the file system, and, once too much is not written back yet, for the device: mostly microseconds, now and then seconds";

const FIX: &[&str] = &[
    "put the data into a ring buffer in memory, and write it from a thread that is not real-time",
    "write to memory that is mapped and locked, and let another process save it",
];
