//! A wait for a grace period of RCU: the words of it, be it a call's own or longer because a thread kept RCU off a CPU.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::info::LateActivation;
use crate::model::Culprit;
use crate::timeline::housekeeping::serves_rcu;
use whylate_base::{Action, AdvisedFix};

/// Calls on the files of the kernel's own file systems.
const WRITES: [&str; 3] = ["write", "writev", "pwrite64"];

pub(super) fn why(late: &LateActivation<'_>, call: &str) -> String {
    let LateActivation { thread, charged, .. } = late;
    format!(
        "{thread} waited {charged} in {call} for a grace period of RCU: until all CPUs had left the code that reads what the \
         call changes; no thread held it up"
    )
}

pub(super) fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let mut fixes = Vec::new();
    let call = of.call.map_or_else(|| "the call".to_owned(), |call| format!("the system call {call}"));
    fixes.push(format!(
        "take {call} out of the real-time loop, or leave it to a thread of its own: it changes what the kernel reads without locks, \
         and so waits for a grace period each time, some ticks long"
    ));
    if of.call.is_none_or(|call| WRITES.contains(&call)) {
        fixes.push(
            "of a write to cgroup.procs, sysfs or tracefs: move the threads between cgroups, and make the settings, before the loop begins"
                .to_owned(),
        );
    }
    all_by_hand(ITS_PROGRAM, &fixes.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Advice against the callbacks of RCU on the CPU where it happened.
pub(super) fn callbacks_elsewhere(of: &Advised<'_>) -> AdvisedFix {
    AdvisedFix::new(
        "let other CPUs run RCU's callbacks: rcu_nocbs=CPUS on the kernel's command line",
        match of.cpu_list() {
            Some(cpu) => Action::parameters(&format!("rcu_nocbs={cpu}")),
            None => Action::by_hand("the recording does not show on which CPU it happened"),
        },
    )
}

/// Advice where a real-time thread of RCU has a CPU before the late thread. All of them get the priority of one parameter
/// (`rcu_spawn_core_kthreads()`, `kernel/rcu/tree.c`).
pub(super) fn advice_on_thread(of: &Advised<'_>) -> Option<Vec<AdvisedFix>> {
    let Some(Culprit::Task { comm, priority, .. }) = of.by else { return None };
    if !serves_rcu(comm.as_str()) || !priority.is_realtime() {
        return None;
    }
    let lower = AdvisedFix::new(
        format!(
            "give {} a priority below that of the late thread: rcutree.kthread_prio=PRIORITY on the kernel's command line sets that of the threads \
             of RCU at boot, chrt -f -p PRIORITY TID that of one",
            of.the_culprit()
        ),
        of.lower_culprit(),
    );
    let runs_callbacks = comm.as_str().starts_with("rcuc/");
    Some(runs_callbacks.then(|| callbacks_elsewhere(of)).into_iter().chain([lower]).collect())
}

/// True of the threads by which a grace period ends.
pub(crate) fn ends_by(carrier: Option<&Culprit>) -> bool {
    matches!(carrier, Some(Culprit::Task { comm, .. }) if serves_rcu(comm.as_str()))
}

/// Why a thread was late where a culprit kept one of RCU off its CPU.
pub(super) fn why_deferred(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let (by, carrier) = (late.by(), late.carrier_or("a thread of RCU"));
    format!(
        "{by} had CPU {cpu} for {charged} while {carrier} was runnable, without which the grace period of RCU does not end that \
         {thread} waited for"
    )
}

pub(super) fn advice_on_deferred(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        of.culprit_moved(),
        of.carrier_raised(
            "the thread of RCU",
            "; of those of the kernel, rcutree.kthread_prio= sets it at boot",
        ),
        AdvisedFix::by_hand(
            "take the call that waits for RCU out of the real-time loop, or leave it to a thread of its own",
            ITS_PROGRAM,
        ),
    ]
}
