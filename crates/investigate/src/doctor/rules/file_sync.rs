//! Waits for storage in the real-time path: fsync and its like.

use super::lines::Mistake;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "file-sync", page: page!("file-sync"), needs: Needs::Calls, find };

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Error,
    does: "waits for storage in its loop",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.of_path_calls(observation, is_one)
}

/// `MS_SYNC`, msync(2).
const MS_SYNC: u64 = 4;

fn is_one(_: &Observation, call: &Call) -> bool {
    use SystemCall as C;
    match call.call {
        C::Fsync | C::Fdatasync | C::Sync | C::Syncfs | C::SyncFileRange => true,
        C::Msync => call.args[2] & MS_SYNC != 0,
        _ => false,
    }
}

const WHY: &str = "fsync() and its like return when the device has stored the data: milliseconds at best, and seconds while other programs write";

const FIX: &[&str] = &[
    "synchronize in a thread that is not real-time",
    "where data must be stored before the next step: give that step no deadline",
];
