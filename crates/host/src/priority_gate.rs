//! Which of the kernel's checks refused a scheduling policy, why, and what opens it.
//!
//! The checks and their order: `__sched_setscheduler()` and `user_check_sched_setscheduler()` in kernel/sched/syscalls.c.

use crate::scheduling_rights::{RtGroup, SchedulingRights};
use whylate_base::Policy;

/// `EBUSY`, errno(3).
const BUSY: i32 = 16;

/// A check that a change of a thread's policy or CPUs has to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PriorityGate {
    /// SCHED_DEADLINE admission control.
    Admission,
    /// RLIMIT_RTPRIO, without CAP_SYS_NICE.
    RtPriorityLimit,
    /// RLIMIT_NICE, without CAP_SYS_NICE.
    NiceLimit,
    /// CAP_SYS_NICE, for what no limit opens.
    Capability,
    /// CAP_SYS_NICE in a user namespace other than the first.
    UserNamespace,
    /// CONFIG_RT_GROUP_SCHED.
    RtGroup,
    /// The affinity of a SCHED_DEADLINE thread.
    RootDomain,
    /// A filter of system calls.
    Seccomp,
    /// The thread belongs to another user.
    OtherUser,
    /// Which check it was could not be read.
    Unknown,
}

/// What was asked of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityRequest {
    /// The policy; `None`: not known, a real-time one.
    pub policy: Option<Policy>,
    /// The real-time priority; `None`: not known.
    pub priority: Option<u32>,
}

impl PriorityGate {
    /// The check that refused a request with `errno`, by the rights of the process: the first that it does not pass.
    pub fn that_refused(request: PriorityRequest, errno: i32, rights: &SchedulingRights) -> PriorityGate {
        if errno == BUSY {
            return PriorityGate::Admission;
        }
        if rights.capabilities.is_none() && rights.in_user_namespace.is_none() {
            return PriorityGate::Unknown;
        }
        if !within_limit(request, rights) && rights.may_set_any_priority() != Some(true) {
            return match (rights.has_sys_nice(), rights.in_user_namespace, request.policy) {
                (Some(true), Some(true), _) => PriorityGate::UserNamespace,
                (Some(true), None, _) => PriorityGate::Unknown,
                (_, _, Some(Policy::Deadline)) => PriorityGate::Capability,
                (_, _, Some(Policy::Fifo | Policy::Rr) | None) => PriorityGate::RtPriorityLimit,
                _ => PriorityGate::NiceLimit,
            };
        }
        let is_deadline = request.policy == Some(Policy::Deadline);
        match &rights.rt_group {
            RtGroup::Group { runtime_us: 0, .. } | RtGroup::InForce if !is_deadline => PriorityGate::RtGroup,
            _ if is_deadline => PriorityGate::RootDomain,
            _ if rights.has_seccomp_filter == Some(true) => PriorityGate::Seccomp,
            _ => PriorityGate::Unknown,
        }
    }

    /// A stable name for documents.
    pub fn name(self) -> &'static str {
        match self {
            PriorityGate::Admission => "deadline-admission",
            PriorityGate::RtPriorityLimit => "rlimit-rtprio",
            PriorityGate::NiceLimit => "rlimit-nice",
            PriorityGate::Capability => "cap-sys-nice",
            PriorityGate::UserNamespace => "user-namespace",
            PriorityGate::RtGroup => "rt-group",
            PriorityGate::RootDomain => "root-domain",
            PriorityGate::Seccomp => "seccomp",
            PriorityGate::OtherUser => "other-user",
            PriorityGate::Unknown => "unknown",
        }
    }

    /// Why it refuses, in a sentence.
    pub fn why(self) -> &'static str {
        match self {
            PriorityGate::Admission => {
                "gate: SCHED_DEADLINE admission control. All SCHED_DEADLINE threads together may reserve no more of the CPUs than \
                 kernel.sched_rt_runtime_us per kernel.sched_rt_period_us, and there was no room for this one"
            }
            PriorityGate::RtPriorityLimit => {
                "gate: RLIMIT_RTPRIO. The process has no CAP_SYS_NICE, and its RLIMIT_RTPRIO is lower than the priority it asks for"
            }
            PriorityGate::NiceLimit => {
                "gate: RLIMIT_NICE. The process has no CAP_SYS_NICE, and its RLIMIT_NICE does not allow this nice value"
            }
            PriorityGate::Capability => "gate: CAP_SYS_NICE. SCHED_DEADLINE needs it; no RLIMIT_RTPRIO helps",
            PriorityGate::UserNamespace => {
                "gate: user namespace. The process has CAP_SYS_NICE in its own user namespace, and the kernel asks for that of the \
                 first one"
            }
            PriorityGate::RtGroup => {
                "gate: CONFIG_RT_GROUP_SCHED. Threads of a cgroup whose cpu.rt_runtime_us is 0, as in every new one, cannot become \
                 real-time, not even those of root"
            }
            PriorityGate::RootDomain => {
                "gate: CPUs. A SCHED_DEADLINE thread must be allowed all CPUs of its root domain: it was pinned to fewer"
            }
            PriorityGate::Seccomp => {
                "gate: seccomp. The process has CAP_SYS_NICE, and a filter refuses its system calls"
            }
            PriorityGate::OtherUser => {
                "gate: user. The thread belongs to another user, and the process has no CAP_SYS_NICE"
            }
            PriorityGate::Unknown => {
                "a thread needs CAP_SYS_NICE, or an RLIMIT_RTPRIO as high as the priority it asks for; which check refused could not be \
                 read"
            }
        }
    }

    /// What opens it, best first.
    pub fn fix(self) -> &'static [&'static str] {
        match self {
            PriorityGate::Admission => &[
                "reserve less: a smaller runtime or a longer period, here or in other SCHED_DEADLINE threads",
                "sysctl kernel.sched_rt_runtime_us=-1 turns admission control off; risk: deadlines may then be missed",
            ],
            PriorityGate::RtPriorityLimit => &[
                "LimitRTPRIO=99 in the unit of a systemd service; `@realtime - rtprio 99` in /etc/security/limits.conf for users of \
                 that group",
                "or the capability: setcap cap_sys_nice+ep PROGRAM; --cap-add SYS_NICE or --ulimit rtprio=99 for a container",
            ],
            PriorityGate::NiceLimit => &[
                "LimitNICE=-20 in the unit of a systemd service; `@realtime - nice -20` in /etc/security/limits.conf for users of \
                 that group",
                "or the capability: setcap cap_sys_nice+ep PROGRAM; --cap-add SYS_NICE for a container",
            ],
            PriorityGate::Capability => &[
                "setcap cap_sys_nice+ep PROGRAM; AmbientCapabilities=CAP_SYS_NICE in the unit of a systemd service",
            ],
            PriorityGate::UserNamespace => &[
                "set RLIMIT_RTPRIO where the namespace is made (podman run --ulimit rtprio=99)",
                "or run it without a user namespace",
            ],
            PriorityGate::RtGroup => &[
                "give its cgroup real-time runtime: cpu.rt_runtime_us (cgroup v1), here and in the groups above; or move it to the \
                 root cgroup",
                "boot with rt_group_sched=0, where the kernel has that parameter (6.16)",
            ],
            PriorityGate::RootDomain => &[
                "do not pin it; make a cpuset partition (cpuset.cpus.partition) of the CPUs it is to run on instead",
            ],
            PriorityGate::Seccomp => &[
                "allow sched_setscheduler and sched_setattr in the container's seccomp profile, or in SystemCallFilter= of the unit",
            ],
            PriorityGate::OtherUser => &["run it as root, or as the user of the thread"],
            PriorityGate::Unknown => &[
                "allow it: RLIMIT_RTPRIO (rtprio in limits.conf, LimitRTPRIO= of a systemd service), or CAP_SYS_NICE",
            ],
        }
    }
}

/// Whether a limit allows it to a process without capabilities. Where it is not known, it does not: then the gate is the
/// one that a capability would open.
fn within_limit(request: PriorityRequest, rights: &SchedulingRights) -> bool {
    match (request.policy, request.priority, rights.rtprio) {
        (Some(Policy::Fifo | Policy::Rr), Some(priority), Some(limit)) => {
            limit.soft.is_none_or(|limit| limit >= u64::from(priority))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProcessLimit;

    const PERM: i32 = 1;

    fn rights(capabilities: u64, in_user_namespace: bool, filter: bool, group: RtGroup) -> SchedulingRights {
        SchedulingRights {
            capabilities: Some(capabilities),
            in_user_namespace: Some(in_user_namespace),
            has_seccomp_filter: Some(filter),
            rt_group: group,
            ..SchedulingRights::default()
        }
    }

    fn group(runtime_us: i64) -> RtGroup {
        RtGroup::Group { path: "/cg/app".to_owned(), runtime_us }
    }

    #[test]
    fn the_gate_is_the_first_check_that_is_not_passed() {
        let (root, plain) = (u64::MAX, 0);
        let off = RtGroup::NotInForce;
        for (policy, errno, rights, expected) in [
            (Policy::Fifo, PERM, rights(plain, false, false, off.clone()), PriorityGate::RtPriorityLimit),
            (Policy::Rr, PERM, rights(plain, false, true, group(0)), PriorityGate::RtPriorityLimit),
            (Policy::Other, PERM, rights(plain, false, false, off.clone()), PriorityGate::NiceLimit),
            (Policy::Deadline, PERM, rights(plain, false, false, off.clone()), PriorityGate::Capability),
            (Policy::Deadline, BUSY, rights(root, false, false, off.clone()), PriorityGate::Admission),
            (Policy::Fifo, PERM, rights(root, true, false, off.clone()), PriorityGate::UserNamespace),
            (Policy::Fifo, PERM, rights(root, false, true, group(0)), PriorityGate::RtGroup),
            (Policy::Fifo, PERM, rights(root, false, true, RtGroup::InForce), PriorityGate::RtGroup),
            (Policy::Fifo, PERM, rights(root, false, true, group(950_000)), PriorityGate::Seccomp),
            (Policy::Deadline, PERM, rights(root, false, false, group(0)), PriorityGate::RootDomain),
            (Policy::Fifo, PERM, rights(root, false, false, off), PriorityGate::Unknown),
            (Policy::Fifo, PERM, SchedulingRights::default(), PriorityGate::Unknown),
        ] {
            let request = PriorityRequest { policy: Some(policy), priority: Some(50) };
            assert_eq!(
                PriorityGate::that_refused(request, errno, &rights),
                expected,
                "{policy:?} {rights:?}"
            );
        }
    }

    #[test]
    fn a_limit_that_is_high_enough_did_not_refuse() {
        let limit = |soft| Some(ProcessLimit { soft: Some(soft), hard: Some(99) });
        let of = |soft, priority| {
            let rights = SchedulingRights { rtprio: limit(soft), ..rights(0, false, false, group(0)) };
            PriorityGate::that_refused(
                PriorityRequest { policy: Some(Policy::Fifo), priority },
                PERM,
                &rights,
            )
        };
        assert_eq!(of(50, Some(50)), PriorityGate::RtGroup);
        assert_eq!(of(49, Some(50)), PriorityGate::RtPriorityLimit);
        assert_eq!(of(99, None), PriorityGate::RtPriorityLimit);
    }
}
