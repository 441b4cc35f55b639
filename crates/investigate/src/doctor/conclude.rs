//! What the calls of an observation show together: requests of priority, descriptors that changed, periodic parts.

use super::calls::SystemCall;
use super::facts::{Call, Observation, PolicyRequest};
use super::path;
use std::collections::HashMap;
use whylate_base::{Ns, Policy, Tid};

/// Adds to an observation what follows from its calls.
pub(super) fn all(observation: &mut Observation) {
    observation.descriptor_changes = descriptor_changes(observation);
    requests(observation);
    paths(observation);
}

/// What was asked of the scheduler, for which thread.
fn requests(observation: &mut Observation) {
    for (index, call) in observation.calls.iter().enumerate() {
        let policy = match call.call {
            SystemCall::SchedSetScheduler => Policy::from_raw(call.args[1] as u32 & !RESET_ON_FORK),
            SystemCall::SchedSetAttr => None,
            SystemCall::SchedSetAffinity => {
                let pins_itself = target(call) == call.tid && call.ret.is_some_and(|ret| ret >= 0);
                if let Some(thread) = observation.threads.get_mut(&call.tid).filter(|_| pins_itself) {
                    thread.pinned.push(index);
                }
                continue;
            }
            _ => continue,
        };
        let Some(thread) = observation.threads.get_mut(&target(call)) else { continue };
        thread.requests.push(PolicyRequest { call: index, by: call.tid, policy, error: call.error() });
        let (Some(policy), None, Some(end)) = (policy, call.error(), call.end) else { continue };
        thread.realtime_until = (!policy.is_realtime()).then_some(call.start);
        if policy.is_realtime() {
            thread.realtime_since = Some(thread.realtime_since.map_or(end, |since| since.min(end)));
            if !thread.policy.is_realtime() {
                // It was real-time between two looks.
                thread.policy = policy;
            }
        }
    }
}

/// `SCHED_RESET_ON_FORK`, sched_setscheduler(2).
const RESET_ON_FORK: u32 = 0x4000_0000;

/// Zero is the caller.
fn target(call: &Call) -> Tid {
    match call.args[0] as i32 {
        0 => call.tid,
        tid => Tid(tid),
    }
}

/// When descriptors were closed or replaced; what else makes one finds its number free.
fn descriptor_changes(observation: &Observation) -> HashMap<(Tid, i32), Vec<Ns>> {
    let mut changes: HashMap<(Tid, i32), Vec<Ns>> = HashMap::new();
    for call in observation.calls.iter().filter(|call| call.error().is_none()) {
        let fd = match call.call {
            SystemCall::Close => call.fd(),
            SystemCall::Dup2 | SystemCall::Dup3 => call.args[1] as i32,
            _ => continue,
        };
        if let Some(thread) = observation.threads.get(&call.tid) {
            changes.entry((thread.pid, fd)).or_default().push(call.start);
        }
    }
    changes
}

fn paths(observation: &mut Observation) {
    let mut calls: HashMap<Tid, Vec<&Call>> = HashMap::new();
    for call in &observation.calls {
        calls.entry(call.tid).or_default().push(call);
    }
    let found: Vec<_> = observation
        .realtime_threads()
        .map(|thread| {
            let calls = calls.get(&thread.tid).map(Vec::as_slice).unwrap_or_default();
            let descriptor = |call: &Call| observation.descriptor(call.tid, call.fd(), call.start).cloned();
            (thread.tid, path::of(thread, calls.iter().copied(), descriptor))
        })
        .collect();
    for (tid, path) in found {
        if let Some(thread) = observation.threads.get_mut(&tid) {
            thread.path = path;
            if path.is_none() && thread.realtime_until.is_some() {
                // It only tried whether it may be real-time.
                (thread.policy, thread.priority) = (Policy::Other, 0);
            }
        }
    }
}
