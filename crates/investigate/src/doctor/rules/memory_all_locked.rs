//! Large programs that lock all of their memory.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::Observation;
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "memory-all-locked", page: page!("memory-all-locked"), needs: Needs::Calls, find };

/// Below this no machine that runs real-time programs misses the memory.
const LARGE: u64 = 256 << 20;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let mut found = Vec::new();
    for (&pid, process) in &observation.processes {
        let Some(locked) = process.most_locked_bytes.filter(|&locked| locked >= LARGE) else { continue };
        let calls =
            observation.calls.iter().filter(|call| call.call == SystemCall::MlockAll && call.ret == Some(0));
        let call = calls
            .filter_map(|call| Some((observation.threads.get(&call.tid)?, call)))
            .find(|(thread, _)| thread.pid == pid);
        let is_realtime = observation.realtime_threads().any(|thread| thread.pid == pid);
        if let Some((thread, call)) = call.filter(|_| is_realtime) {
            let title = format!("{} locks all memory of its process, {} MiB", thread.name(), locked >> 20);
            found.push(
                DoctorFinding::new(RULE.code, Severity::Info, title)
                    .of(thread)
                    .at(observation.location(call.stack))
                    .times(1, call.duration())
                    .because(WHY)
                    .fix(FIX),
            );
        }
    }
    found
}

const WHY: &str = "mlockall() provides every page that is mapped, used or not: the whole stacks of all threads, and files that \
     are only looked at; the start takes long, and the rest of the machine has that much less memory";

const FIX: &[&str] = &[
    "lock what the real-time threads use: mlock() of their data, code and stacks",
    "smaller stacks: pthread_attr_setstacksize()",
    "MCL_ONFAULT locks pages only when they are touched; touch those of the real-time threads before the loop",
];
