//! Threads that asked for a real-time policy and were refused, or that their parent's does not pass to: they run as SCHED_OTHER, often
//! unnoticed.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use crate::causes::advised::{ITS_PROGRAM, all_by_hand, throttling_off};
use crate::timeline::settings::{PolicyRefusal, STUCK};
use crate::timeline::thread::Thread;
use crate::verdict::reset_on_fork;
use whylate_base::{Action, AdvisedFix, Evidence, Finding, Policy, Severity};

pub(super) const INFO: FindingInfo =
    FindingInfo { code: "realtime-refused", page: page!("realtime-refused") };

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let timeline = subject.timeline;
    // A thread that became real-time in the end, at a lower priority or by another's help, has what it needs.
    let refused = timeline.threads.iter().filter(|thread| !thread.ever_realtime);
    // What it was refused before the part that is asked for, it lacks there, too.
    let shows = |thread: &Thread, refusal: &PolicyRefusal| {
        subject.stats.get(thread.tid).is_some() || subject.is_in_scope(refusal.cpu, refusal.at, refusal.at)
    };
    let refused = refused
        .filter(|thread| subject.options.selects(thread))
        .filter_map(|thread| {
            thread.refused.filter(|refusal| shows(thread, refusal)).map(|refusal| (thread, refusal))
        })
        .map(|(thread, refusal)| finding(subject, thread, &refusal));
    let threads = timeline.threads.iter().filter(|thread| !thread.ever_realtime);
    refused.chain(threads.filter_map(|thread| was_reset(subject, thread))).collect()
}

/// A thread of a real-time thread's process that has periods, and waited long for a CPU, for its parent's policy did not pass to it.
fn was_reset(subject: &Subject<'_>, thread: &Thread) -> Option<Finding> {
    let reset = thread.lifetime.was_reset.as_ref()?;
    let explained = subject.by_thread.get(&thread.tid).into_iter().flatten();
    let waits = explained.filter(|one| one.verdict.cause.is_behind_thread()).map(|one| one.verdict.charged);
    let in_scope = subject.scope.is_none() && subject.options.tasks.is_empty();
    let beside = Some(thread.tally.wait).filter(|_| in_scope && thread.pacing.periods.are_by_sleeps());
    let wait = waits.chain(beside).max().filter(|&wait| wait >= STUCK)?;
    let (comm, policy) = (subject.usual(thread).comm, reset.policy.constant());
    let parent = format!("{}:{}", reset.comm, reset.by);
    Some(Finding {
        code: INFO.code,
        severity: Severity::Warning,
        title: format!(
            "{comm}:{} is not real-time: {parent}, which started it, has {policy} with SCHED_RESET_ON_FORK",
            thread.tid
        ),
        why: format!(
            "with SCHED_RESET_ON_FORK a policy does not pass to the threads that its thread starts: they begin with nice 0; {comm}:{} \
             waited up to {wait} for a CPU",
            thread.tid
        ),
        evidence: vec![reset_on_fork(reset, thread.tid)],
        fix: all_by_hand(
            ITS_PROGRAM,
            &[
                "give the thread its own policy: sched_setscheduler for it, or pthread_attr_setschedpolicy with PTHREAD_EXPLICIT_SCHED",
                "leave SCHED_RESET_ON_FORK out where the threads that the parent starts are to be real-time",
            ],
        ),
    })
}

fn finding(subject: &Subject<'_>, thread: &Thread, refusal: &PolicyRefusal) -> Finding {
    let what = match refusal.policy {
        Some(Policy::Deadline) => "SCHED_DEADLINE".to_owned(),
        Some(policy) => policy.constant().to_owned(),
        None if refusal.no_room => "SCHED_DEADLINE".to_owned(),
        None => "a scheduling policy".to_owned(),
    };
    let error = if refusal.no_room { "EBUSY" } else { "EPERM" };
    let comm = subject.usual(thread).comm;
    let called = match refusal.comm == comm {
        true => String::new(),
        false => format!("; the thread is called {comm} otherwise"),
    };
    let times = match refusal.times {
        1 => String::new(),
        n => format!(", the last of {n} times"),
    };
    let (why, fix) = if refusal.no_room {
        no_room()
    } else {
        not_permitted(subject.timeline.bandwidth.at(refusal.at).group_sched)
    };
    // Only this call asks for SCHED_DEADLINE, and its arguments do not show the policy (sched_setattr(2)).
    let may_be_deadline = !refusal.no_room
        && refusal.call == "sched_setattr"
        && refusal.policy.is_none_or(|policy| policy == Policy::Deadline);
    let (why, fix) = match may_be_deadline {
        true => (format!("{why}; {ON_ALL_CPUS}"), [fix, &[USE_ALL_CPUS]].concat()),
        false => (why.to_owned(), fix.to_vec()),
    };
    let late = format!("{}:{}", refusal.comm, thread.tid);
    // The switch behind the call shows the name of the program that it executed before.
    let asked = match refusal.by.and_then(|by| subject.timeline.threads.get(by)) {
        None => format!("{late} asked for {what} and was refused ({error}): it"),
        Some(by) => {
            format!("{}:{} asked for {what} for {late} and was refused ({error}): that", by.comm(), by.tid)
        }
    };
    Finding {
        code: INFO.code,
        severity: Severity::Error,
        title: format!("{asked} is not real-time"),
        why,
        evidence: vec![Evidence::at(
            refusal.at,
            refusal.cpu,
            format!("{} returned -{error}{times}{called}", refusal.call),
        )],
        fix: fix
            .iter()
            .map(|(line, reason)| match *line {
                ADMISSION => AdvisedFix::new(ADMISSION, throttling_off()),
                GROUPS_OFF => AdvisedFix::new(GROUPS_OFF, Action::parameters("rt_group_sched=0")),
                line => AdvisedFix::by_hand(line, *reason),
            })
            .collect(),
    }
}

/// `__sched_setscheduler()`, `kernel/sched/syscalls.c`.
const ON_ALL_CPUS: &str = "if it is SCHED_DEADLINE that was asked for, the thread must also be allowed on all CPUs of its root domain";
const USE_ALL_CPUS: (&str, &str) = (
    "for SCHED_DEADLINE: do not bind the thread (taskset, sched_setaffinity), or give it its CPUs by an exclusive cpuset, which is a root \
     domain of its own",
    ITS_PROGRAM,
);
const ADMISSION: &str =
    "sysctl kernel.sched_rt_runtime_us=-1 turns admission control off; risk: deadlines may then be missed";
const GROUPS_OFF: &str = "boot with rt_group_sched=0, where the kernel has that parameter (6.16)";

/// `sched_dl_overflow`, `kernel/sched/deadline.c`
fn no_room() -> (&'static str, &'static [(&'static str, &'static str)]) {
    (
        "all SCHED_DEADLINE threads together may reserve no more of the CPUs than kernel.sched_rt_runtime_us per \
         kernel.sched_rt_period_us, and there was no room for this one",
        &[
            (
                "reserve less: a smaller runtime or a longer period, here or in other SCHED_DEADLINE threads",
                ITS_PROGRAM,
            ),
            (ADMISSION, ""),
        ],
    )
}

/// `sched_setscheduler(2)`; for groups `sched_group_rt_runtime`, `kernel/sched/syscalls.c`.
fn not_permitted(group_sched: Option<bool>) -> (&'static str, &'static [(&'static str, &'static str)]) {
    const LIMIT: (&str, &str) = (
        "allow it: RLIMIT_RTPRIO (rtprio in limits.conf, LimitRTPRIO= of a systemd service), or CAP_SYS_NICE",
        "the recording does not show which user or service starts the program",
    );
    const GROUP: (&str, &str) = (
        "give its cgroup real-time runtime: cpu.rt_runtime_us (cgroup v1), here and in the groups above; or move it \
         to the root cgroup",
        "the recording does not show which cgroup the thread belongs to",
    );
    match group_sched {
        Some(true) => (
            "this kernel has CONFIG_RT_GROUP_SCHED: threads of a cgroup whose cpu.rt_runtime_us is 0, as in every new \
             one, cannot become real-time, not even those of root; without CAP_SYS_NICE, RLIMIT_RTPRIO must allow it as well",
            &[GROUP, (GROUPS_OFF, ""), LIMIT],
        ),
        Some(false) => (
            "a thread needs CAP_SYS_NICE, or an RLIMIT_RTPRIO as high as the priority it asks for; a container has no CAP_SYS_NICE \
             unless it is added",
            &[LIMIT],
        ),
        None => (
            "a thread needs CAP_SYS_NICE, or an RLIMIT_RTPRIO as high as the priority it asks for; with \
             CONFIG_RT_GROUP_SCHED, which the recording does not show, its cgroup needs a cpu.rt_runtime_us as well",
            &[LIMIT, GROUP],
        ),
    }
}
