//! Real-time programs that have locked no memory.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::Observation;
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Severity, Tid};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "memory-not-locked", page: page!("memory-not-locked"), needs: Needs::Files, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let is_unlocked = |pid: &Tid| {
        observation.processes.get(pid).is_some_and(|process| process.most_locked_bytes == Some(0))
    };
    let mut found = Vec::new();
    for &pid in observation.processes.keys().filter(|&pid| is_unlocked(pid)) {
        // A program without a periodic part has no period to lose.
        let threads =
            observation.realtime_threads().filter(|thread| thread.pid == pid && thread.path.is_some());
        let Some(thread) = threads.max_by_key(|thread| thread.rank()) else { continue };
        let title = format!("{} is real-time, and its process has locked no memory", thread.name());
        found.push(DoctorFinding::new(RULE.code, Severity::Warning, title).of(thread).because(WHY).fix(FIX));
    }
    found
}

const WHY: &str = "the kernel may take any page that is not locked, code included, and reads it from a device when it is used \
     again: where memory is short, a period then takes milliseconds longer";

const FIX: &[&str] = &[
    "mlockall(MCL_CURRENT | MCL_FUTURE) before the real-time threads start; RLIMIT_MEMLOCK must allow it (LimitMEMLOCK= of a \
     systemd service)",
    "in a program with much memory: mlock() of the data and code of the real-time threads, not of everything",
];
