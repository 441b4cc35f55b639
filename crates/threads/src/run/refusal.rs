//! A refusal: what was refused, by which of the kernel's checks, what shows it, and what to do.

use super::bandwidth::Reservations;
use super::change::ThreadChange;
use super::request::RunRequest;
use std::fmt;
use whylate_base::{Policy, Tid};
use whylate_host::{FsRoot, PriorityGate, PriorityRequest, RtGroup, SchedulingRights};
use whylate_sys::{SchedParams, SysError};

/// Something that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What: `SCHED_FIFO priority 50`.
    pub what: String,
    /// The kernel's error, by its name; `None`: this program refuses it.
    pub errno: Option<&'static str>,
    /// The check that refuses, as a stable name.
    pub gate: &'static str,
    /// Why it refuses, in a sentence.
    pub why: String,
    /// What shows it: files with their values.
    pub evidence: Vec<String>,
    /// What to do, best first.
    pub fix: Vec<String>,
}

impl Refusal {
    /// The kernel's refusal of a change of a thread, 0 for the calling one.
    pub(super) fn of_change(change: &ThreadChange, error: &SysError, thread: Tid) -> Box<Refusal> {
        Box::new(match change {
            ThreadChange::Scheduling(params) => of_scheduling(params, error, thread),
            ThreadChange::Cpus(_) if name(error.errno()) == "EBUSY" => of_root_domain(change, error, thread),
            ThreadChange::Cpus(_) if is_of_other_user(thread) && name(error.errno()) == "EPERM" => {
                let (gate, tree) = (PriorityGate::OtherUser, FsRoot::live());
                let refusal = of_gate(
                    gate,
                    &SchedParams::OTHER,
                    "EPERM",
                    &rights(&tree, thread),
                    &process(thread),
                    &tree,
                );
                Refusal { what: change.to_string(), ..refusal }
            }
            _ => of_other(change, error),
        })
    }

    /// What only the program itself can do; `None`: nothing such is asked for.
    pub(super) fn of_memory(request: &RunRequest) -> Option<Box<Refusal>> {
        let what = match (request.lock_memory, request.stack_prefault) {
            (true, _) => "locked memory",
            (false, Some(_)) => "a stack that was touched before",
            (false, None) => return None,
        };
        Some(Box::new(Refusal {
            what: what.to_owned(),
            errno: None,
            gate: "execve",
            why: "the execution of a program ends all memory locks and gives it a new stack, so only the program itself can do that"
                .to_owned(),
            evidence: vec!["mlockall(2): memory locks are not preserved across execve(2)".to_owned()],
            fix: vec![
                "call mlockall(2) in the program: `whylate run --lock-memory --print-code c` prints the calls in their order"
                    .to_owned(),
                "--limit memlock=unlimited allows that call without root".to_owned(),
            ],
        }))
    }

    /// In one line.
    pub(super) fn summary(&self) -> String {
        let errno = self.errno.map(|errno| format!("{errno}: ")).unwrap_or_default();
        format!("{errno}{}", self.why)
    }
}

/// `cannot set SCHED_FIFO priority 50: EPERM: gate: ...`, then evidence and fixes.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot set {}: {}", self.what, self.summary())?;
        for evidence in &self.evidence {
            write!(f, "\n  shown by  {evidence}")?;
        }
        for (at, fix) in self.fix.iter().enumerate() {
            write!(f, "\n  {}  {fix}", if at == 0 { "fix     " } else { "or      " })?;
        }
        Ok(())
    }
}

/// The refusal of a limit, of NUMA nodes, of CPUs or of a timer slack.
fn of_other(change: &ThreadChange, error: &SysError) -> Refusal {
    let tree = FsRoot::live();
    let (gate, evidence, fix) = match change {
        ThreadChange::Limit(limit) => {
            let limits = tree.text("/proc/self/limits");
            let line =
                limits.known().and_then(|text| text.lines().find(|line| line.starts_with(limit.title())));
            (
                "hard-limit",
                line.map(|line| {
                    format!(
                        "/proc/self/limits: {}",
                        line.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
                    )
                }),
                "only root with CAP_SYS_RESOURCE raises a hard limit: start it as such, or raise the limit in \
                 /etc/security/limits.conf, or with Limit...= in the unit",
            )
        }
        ThreadChange::MemoryNodes(_) => (
            "memory-nodes",
            Some(tree.value::<String>("/sys/devices/system/node/has_memory").to_string()),
            "choose nodes that have memory and are in the cpuset",
        ),
        _ => ("unknown", None, error.hint().unwrap_or("the error of the system call is all that is known")),
    };
    Refusal {
        what: change.to_string(),
        errno: Some(name(error.errno())),
        gate,
        why: error.to_string(),
        evidence: evidence.into_iter().collect(),
        fix: vec![fix.to_owned()],
    }
}

/// A SCHED_DEADLINE thread keeps all CPUs of its root domain (`dl_task_check_affinity()`, kernel/sched/syscalls.c).
fn of_root_domain(change: &ThreadChange, error: &SysError, thread: Tid) -> Refusal {
    let gate = PriorityGate::RootDomain;
    let rights = SchedulingRights::default();
    Refusal {
        what: change.to_string(),
        errno: Some(name(error.errno())),
        gate: gate.name(),
        why: gate.why().to_owned(),
        evidence: evidence(gate, &SchedParams::OTHER, &rights, &process(thread), &FsRoot::live()),
        fix: gate.fix().iter().map(|&fix| fix.to_owned()).collect(),
    }
}

/// The thread in `/proc`.
fn process(thread: Tid) -> String {
    if thread.0 == 0 { "self".to_owned() } else { thread.to_string() }
}

/// The refusal of a policy.
fn of_scheduling(params: &SchedParams, error: &SysError, thread: Tid) -> Refusal {
    let tree = FsRoot::live();
    let process = process(thread);
    let rights = rights(&tree, thread);
    let errno = name(error.errno());
    let what = params.to_string();
    if errno == "EINVAL" {
        let why = "the kernel takes no such parameters for this policy".to_owned();
        let fix = vec![parameters(params).to_owned()];
        return Refusal {
            what,
            errno: Some(errno),
            gate: "parameters",
            why,
            evidence: vec![error.to_string()],
            fix,
        };
    }
    let gate = match whylate_sys::is_setattr_filtered() {
        true => PriorityGate::Seccomp,
        false => {
            let request = PriorityRequest { policy: Some(params.policy), priority: Some(params.priority) };
            // That no filter refuses was just seen.
            let rights = SchedulingRights { has_seccomp_filter: Some(false), ..rights.clone() };
            match is_of_other_user(thread) && errno == "EPERM" && rights.may_set_any_priority() != Some(true)
            {
                true => PriorityGate::OtherUser,
                false => PriorityGate::that_refused(request, error.errno(), &rights),
            }
        }
    };
    of_gate(gate, params, errno, &rights, &process, &tree)
}

/// What counts for a change of a thread: the capabilities of this process, and the limits and the group of the thread
/// (`user_check_sched_setscheduler()`, kernel/sched/syscalls.c).
fn rights(tree: &FsRoot, thread: Tid) -> SchedulingRights {
    let own = SchedulingRights::read(tree, "self");
    if thread.0 == 0 {
        return own;
    }
    let of_thread = SchedulingRights::read(tree, &thread.to_string());
    SchedulingRights { rtprio: of_thread.rtprio, nice: of_thread.nice, rt_group: of_thread.rt_group, ..own }
}

/// Whether a thread belongs to another user than this process.
fn is_of_other_user(thread: Tid) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(format!("/proc/{thread}")).map(|metadata| metadata.uid());
    thread.0 != 0 && owner.is_ok_and(|uid| uid != rustix::process::geteuid().as_raw())
}

/// The refusal that a change of a running thread would meet, as far as files show it.
pub(super) fn predicted(change: &ThreadChange, thread: Tid) -> Option<Refusal> {
    let ThreadChange::Scheduling(params) = change else { return None };
    if !matches!(params.policy, Policy::Fifo | Policy::Rr) {
        return None;
    }
    let tree = FsRoot::live();
    let rights = rights(&tree, thread);
    let request = PriorityRequest { policy: Some(params.policy), priority: Some(params.priority) };
    let gate = match is_of_other_user(thread) && rights.may_set_any_priority() == Some(false) {
        true => PriorityGate::OtherUser,
        false => PriorityGate::that_refused(request, rustix::io::Errno::PERM.raw_os_error(), &rights),
    };
    let is_closed = !matches!(gate, PriorityGate::Unknown | PriorityGate::Seccomp);
    is_closed.then(|| of_gate(gate, params, "EPERM", &rights, &process(thread), &tree))
}

/// The refusal by a gate.
fn of_gate(
    gate: PriorityGate,
    params: &SchedParams,
    errno: &'static str,
    rights: &SchedulingRights,
    process: &str,
    tree: &FsRoot,
) -> Refusal {
    Refusal {
        what: params.to_string(),
        errno: Some(errno),
        gate: gate.name(),
        why: gate.why().to_owned(),
        evidence: evidence(gate, params, rights, process, tree),
        fix: gate.fix().iter().map(|&fix| fix.to_owned()).collect(),
    }
}

/// The values that the gate asks for.
fn evidence(
    gate: PriorityGate,
    params: &SchedParams,
    rights: &SchedulingRights,
    process: &str,
    tree: &FsRoot,
) -> Vec<String> {
    let capabilities = || match (rights.capabilities, rights.has_sys_nice()) {
        (Some(mask), Some(true)) => format!("/proc/self/status: CapEff {mask:016x}, with CAP_SYS_NICE"),
        (Some(mask), _) => format!("/proc/self/status: CapEff {mask:016x}, without CAP_SYS_NICE"),
        (None, _) => "/proc/self/status: the capabilities could not be read".to_owned(),
    };
    let limit = |name: &str, limit: Option<whylate_host::ProcessLimit>| {
        let amount = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
        match limit {
            Some(limit) => {
                let (soft, hard) = (amount(limit.soft), amount(limit.hard));
                format!("/proc/{process}/limits: {name} {soft} (hard limit {hard})")
            }
            None => format!("/proc/{process}/limits: {name} could not be read"),
        }
    };
    match gate {
        PriorityGate::RtPriorityLimit => {
            vec![limit("Max realtime priority", rights.rtprio), capabilities()]
        }
        PriorityGate::NiceLimit => vec![limit("Max nice priority", rights.nice), capabilities()],
        PriorityGate::Capability | PriorityGate::OtherUser => vec![capabilities()],
        PriorityGate::UserNamespace => {
            let map = tree.text("/proc/self/uid_map");
            let words = map.known().map(|text| text.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
            let map = words.map(|words| format!("{} = {words}; in the first namespace 0 0 4294967295", map.path));
            map.into_iter().chain([capabilities(), limit("Max realtime priority", rights.rtprio)]).collect()
        }
        PriorityGate::RtGroup => match &rights.rt_group {
            RtGroup::Group { path, runtime_us } if path.ends_with(".rt_runtime_us") => {
                vec![format!("{path} = {runtime_us}")]
            }
            RtGroup::Group { path, .. } => {
                vec![format!("{path} has the controller cpu, and cgroup v2 has no real-time runtime for groups")]
            }
            _ => vec!["the kernel was built with CONFIG_RT_GROUP_SCHED".to_owned()],
        },
        PriorityGate::Seccomp => vec![
            "sched_setattr(2) without attributes is refused as well, and not with EINVAL, as the kernel itself would".to_owned(),
        ],
        PriorityGate::Admission => match &params.deadline {
            Some(wanted) => Reservations::read(tree).sentences(wanted),
            None => Vec::new(),
        },
        PriorityGate::RootDomain => {
            let online = tree.value::<whylate_base::CpuSet>("/sys/devices/system/cpu/online").to_string();
            let status = tree.text(&format!("/proc/{process}/status"));
            let allowed = status
                .known()
                .and_then(|text| text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")));
            let allowed = allowed.map(|list| format!("{}: Cpus_allowed_list {}", status.path, list.trim()));
            allowed.into_iter().chain([online]).collect()
        }
        PriorityGate::Unknown => vec![capabilities(), limit("Max realtime priority", rights.rtprio)],
    }
}

/// What a policy takes (sched(7), sched_setattr(2)).
fn parameters(params: &SchedParams) -> &'static str {
    match params.policy {
        Policy::Fifo => "SCHED_FIFO takes a priority of 1 to 99",
        Policy::Rr => "SCHED_RR takes a priority of 1 to 99",
        Policy::Deadline => {
            "SCHED_DEADLINE takes 1024 ns <= RUNTIME <= DEADLINE <= PERIOD, with a PERIOD between \
             kernel.sched_deadline_period_min_us (100 us) and kernel.sched_deadline_period_max_us (4.2 s)"
        }
        _ => "SCHED_OTHER and SCHED_BATCH take a nice value of -20 to 19",
    }
}

/// The name of an error (errno(3)), of those that the calls of this module have.
pub(super) fn name(errno: i32) -> &'static str {
    use rustix::io::Errno;
    const NAMES: [(Errno, &str); 9] = [
        (Errno::PERM, "EPERM"),
        (Errno::ACCESS, "EACCES"),
        (Errno::BUSY, "EBUSY"),
        (Errno::INVAL, "EINVAL"),
        (Errno::SRCH, "ESRCH"),
        (Errno::NOMEM, "ENOMEM"),
        (Errno::NOENT, "ENOENT"),
        (Errno::NOSYS, "ENOSYS"),
        (Errno::TOOBIG, "E2BIG"),
    ];
    let known = NAMES.iter().find(|(known, _)| known.raw_os_error() == errno);
    known.map_or("another error", |(_, name)| name)
}
