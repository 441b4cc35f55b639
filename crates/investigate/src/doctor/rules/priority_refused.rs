//! Threads that asked for a real-time policy and were refused, with the gate that refused.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{Observation, PolicyRequest, ProcessFacts, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Policy, Severity};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "priority-refused", page: page!("priority-refused"), needs: Needs::Calls, find };

/// `CAP_SYS_NICE`, capabilities(7).
const CAP_SYS_NICE: u64 = 1 << 23;
/// `EBUSY`, errno(3).
const BUSY: i32 = 16;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let refused = observation.threads.values().filter_map(|thread| Some((thread, thread.refused()?)));
    refused.map(|(thread, request)| finding(observation, thread, request)).collect()
}

fn finding(observation: &Observation, thread: &ThreadFacts, request: &PolicyRequest) -> DoctorFinding {
    let call = observation.calls.get(request.call);
    let policy = request
        .policy
        .map_or("a real-time policy".to_owned(), |policy| format!("SCHED_{}", policy.name().to_uppercase()));
    let error = match request.error {
        Some(BUSY) => "EBUSY",
        _ => "EPERM",
    };
    let times = thread.requests.iter().filter(|request| request.error.is_some()).count();
    let title = format!(
        "{}:{} asked for {policy} and was refused ({error}): it is not real-time",
        thread.comm, thread.tid
    );
    let gate = gate(observation.rt_group_sched, observation.processes.get(&thread.pid), request);
    DoctorFinding::new(RULE.code, Severity::Error, title)
        .of(thread)
        .at(observation.location(call.and_then(|call| call.stack)))
        .times(times, None)
        .because(gate.why)
        .fix(gate.fix)
}

/// What refused: the first of the kernel's checks that the process does not pass.
struct Gate {
    why: &'static str,
    fix: &'static [&'static str],
}

/// `__sched_setscheduler` and `user_check_sched_setscheduler`, kernel/sched/syscalls.c.
fn gate(rt_group_sched: Option<bool>, process: Option<&ProcessFacts>, request: &PolicyRequest) -> Gate {
    if request.error == Some(BUSY) {
        return ADMISSION;
    }
    let Some(process) = process else { return UNKNOWN };
    let has_capability = process.capabilities.is_some_and(|mask| mask & CAP_SYS_NICE != 0);
    let in_user_namespace = process.in_user_namespace == Some(true);
    if !has_capability || in_user_namespace {
        let needs_capability = request.policy == Some(Policy::Deadline);
        // Some limit, and still refused: lower than the priority that was asked for.
        return match (in_user_namespace && has_capability, needs_capability) {
            (true, _) => USER_NAMESPACE,
            (false, true) => CAPABILITY,
            (false, false) => LIMIT,
        };
    }
    match (rt_group_sched, process.has_seccomp_filter) {
        (Some(true), _) => GROUP,
        (_, _) if request.policy == Some(Policy::Deadline) => ROOT_DOMAIN,
        (_, Some(true)) => SECCOMP,
        _ => UNKNOWN,
    }
}

const ADMISSION: Gate = Gate {
    why: "gate: SCHED_DEADLINE admission control. All SCHED_DEADLINE threads together may reserve no more of the CPUs than \
          kernel.sched_rt_runtime_us per kernel.sched_rt_period_us, and there was no room for this one",
    fix: &[
        "reserve less: a smaller runtime or a longer period, here or in other SCHED_DEADLINE threads",
        "sysctl kernel.sched_rt_runtime_us=-1 turns admission control off; risk: deadlines may then be missed",
    ],
};
const LIMIT: Gate = Gate {
    why: "gate: RLIMIT_RTPRIO. The process has no CAP_SYS_NICE, and its RLIMIT_RTPRIO is lower than the priority it asks for",
    fix: &[
        "LimitRTPRIO=99 in the unit of a systemd service; `@realtime - rtprio 99` in /etc/security/limits.conf for users of \
         that group",
        "or the capability: setcap cap_sys_nice+ep PROGRAM; --cap-add SYS_NICE or --ulimit rtprio=99 for a container",
    ],
};
const CAPABILITY: Gate = Gate {
    why: "gate: CAP_SYS_NICE. SCHED_DEADLINE needs it; no RLIMIT_RTPRIO helps",
    fix: &[
        "setcap cap_sys_nice+ep PROGRAM; AmbientCapabilities=CAP_SYS_NICE in the unit of a systemd service",
    ],
};
const USER_NAMESPACE: Gate = Gate {
    why: "gate: user namespace. The process has CAP_SYS_NICE in its own user namespace, and the kernel asks for that of the \
          first one",
    fix: &[
        "set RLIMIT_RTPRIO where the namespace is made (podman run --ulimit rtprio=99)",
        "or run it without a user namespace",
    ],
};
const GROUP: Gate = Gate {
    why: "gate: CONFIG_RT_GROUP_SCHED. Threads of a cgroup whose cpu.rt_runtime_us is 0, as in every new one, cannot become \
          real-time, not even those of root",
    fix: &[
        "give its cgroup real-time runtime: cpu.rt_runtime_us (cgroup v1), here and in the groups above; or move it to the \
         root cgroup",
        "boot with rt_group_sched=0, where the kernel has that parameter (6.16)",
    ],
};
const ROOT_DOMAIN: Gate = Gate {
    why: "gate: CPUs. A SCHED_DEADLINE thread must be allowed all CPUs of its root domain: it was pinned to fewer",
    fix: &[
        "do not pin it; make a cpuset partition (cpuset.cpus.partition) of the CPUs it is to run on instead",
    ],
};
const SECCOMP: Gate = Gate {
    why: "gate: seccomp. The process has CAP_SYS_NICE, and a filter refuses its system calls",
    fix: &[
        "allow sched_setscheduler and sched_setattr in the container's seccomp profile, or in SystemCallFilter= of the unit",
    ],
};
const UNKNOWN: Gate = Gate {
    why: "a thread needs CAP_SYS_NICE, or an RLIMIT_RTPRIO as high as the priority it asks for; which check refused could not be \
          read",
    fix: &[
        "allow it: RLIMIT_RTPRIO (rtprio in limits.conf, LimitRTPRIO= of a systemd service), or CAP_SYS_NICE",
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(gate.why.contains(expected), "{expected}: {}", gate.why);
        }
        assert!(gate(None, None, &request(Policy::Fifo, 1)).why.contains("could not be read"));
    }
}
