//! Locks of files in the real-time path.

use super::lines::Mistake;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "file-lock", page: page!("file-lock"), needs: Needs::Calls, find };

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Warning,
    does: "locks a file in its loop",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.of_path_calls(observation, is_one)
}

/// `F_SETLKW` and `F_OFD_SETLKW`, fcntl(2); `LOCK_NB` and `LOCK_UN`, flock(2).
const WAITING_LOCKS: [u64; 2] = [7, 38];
const LOCK_NB: u64 = 4;
const LOCK_UN: u64 = 8;

fn is_one(_: &Observation, call: &Call) -> bool {
    match call.call {
        SystemCall::Flock => call.args[1] & (LOCK_NB | LOCK_UN) == 0,
        SystemCall::Fcntl => WAITING_LOCKS.contains(&call.args[1]),
        _ => false,
    }
}

const WHY: &str = "a lock of a file has no priority inheritance: the thread waits for its owner, however low that one's priority is, and for all threads that keep the owner off the CPU";

const FIX: &[&str] = &[
    "share memory instead, and protect it by a pthread mutex with PTHREAD_PRIO_INHERIT and PTHREAD_PROCESS_SHARED",
    "publish data without a lock: a sequence counter, or two buffers that are exchanged",
];
