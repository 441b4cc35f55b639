//! Threads that asked for a real-time policy and were refused, with the gate that refused.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{Observation, PolicyRequest, ProcessFacts, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Action, Severity};
use whylate_host::{PriorityGate, PriorityRequest, RtGroup, SchedulingRights};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "priority-refused", page: page!("priority-refused"), needs: Needs::Calls, find };

/// `EBUSY`, errno(3).
const BUSY: i32 = 16;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let refused = observation.threads.values().filter_map(|thread| Some((thread, thread.refused()?)));
    refused.map(|(thread, request)| finding(observation, thread, request)).collect()
}

fn finding(observation: &Observation, thread: &ThreadFacts, request: &PolicyRequest) -> DoctorFinding {
    let call = observation.calls.get(request.call);
    let policy =
        request.policy.map_or("a real-time policy".to_owned(), |policy| policy.constant().to_owned());
    let error = match request.error {
        Some(BUSY) => "EBUSY",
        _ => "EPERM",
    };
    let times = thread.requests.iter().filter(|request| request.error.is_some()).count();
    let title =
        format!("{} asked for {policy} and was refused ({error}): it is not real-time", thread.name());
    let gate = gate(observation.rt_group_sched, observation.processes.get(&thread.pid), request);
    let found = DoctorFinding::new(RULE.code, Severity::Error, title)
        .of(thread)
        .at(observation.location(call.and_then(|call| call.stack)))
        .times(times, None)
        .because(gate.why())
        .fix(gate.fix());
    let lines = found.fix.iter().map(|fix| action(&fix.text)).collect::<Vec<_>>();
    lines.into_iter().enumerate().fold(found, |found, (at, action)| found.action(at, action))
}

/// What a plan can make of a gate's fix.
fn action(text: &str) -> Action {
    match text {
        _ if text.starts_with("sysctl kernel.sched_rt_runtime_us=-1") => {
            Action::sysctl("kernel.sched_rt_runtime_us", "-1")
        }
        _ if text.starts_with("boot with rt_group_sched=0") => Action::parameters("rt_group_sched=0"),
        _ => Action::by_hand(
            "how the program is started is to be changed: its user, service or container, or its code",
        ),
    }
}

/// What refused, as far as the process's files show it.
fn gate(
    rt_group_sched: Option<bool>,
    process: Option<&ProcessFacts>,
    request: &PolicyRequest,
) -> PriorityGate {
    let rt_group = match rt_group_sched {
        Some(true) => RtGroup::InForce,
        Some(false) => RtGroup::NotInForce,
        None => RtGroup::Unknown,
    };
    let rights = SchedulingRights {
        capabilities: process.and_then(|process| process.capabilities),
        in_user_namespace: process.and_then(|process| process.in_user_namespace),
        has_seccomp_filter: process.and_then(|process| process.has_seccomp_filter),
        rt_group,
        ..SchedulingRights::default()
    };
    let wanted = PriorityRequest { policy: request.policy, priority: None };
    PriorityGate::that_refused(wanted, request.error.unwrap_or_default(), &rights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Policy;

    #[test]
    fn the_gate_is_the_first_check_that_is_not_passed() {
        let request = |policy, error| PolicyRequest {
            call: 0,
            by: whylate_base::Tid(1),
            policy: Some(policy),
            error: Some(error),
        };
        let process = |capabilities, in_user_namespace, filter| ProcessFacts {
            capabilities: Some(capabilities),
            in_user_namespace: Some(in_user_namespace),
            has_seccomp_filter: Some(filter),
            ..ProcessFacts::default()
        };
        let (root, plain) = (u64::MAX, 0);
        for (policy, error, process, group, expected) in [
            (Policy::Fifo, 1, process(plain, false, false), Some(false), "RLIMIT_RTPRIO"),
            (Policy::Fifo, 1, process(plain, false, true), Some(true), "RLIMIT_RTPRIO"),
            (Policy::Deadline, 1, process(plain, false, false), None, "CAP_SYS_NICE"),
            (Policy::Deadline, 16, process(root, false, false), None, "admission"),
            (Policy::Fifo, 1, process(root, true, false), None, "user namespace"),
            (Policy::Fifo, 1, process(root, false, true), Some(true), "RT_GROUP_SCHED"),
            (Policy::Fifo, 1, process(root, false, true), Some(false), "seccomp"),
            (Policy::Deadline, 1, process(root, false, false), Some(false), "CPUs"),
            (Policy::Fifo, 1, process(root, false, false), None, "could not be read"),
        ] {
            let gate = gate(group, Some(&process), &request(policy, error));
            assert!(gate.why().contains(expected), "{expected}: {}", gate.why());
        }
        assert!(gate(None, None, &request(Policy::Fifo, 1)).why().contains("could not be read"));
    }
}
