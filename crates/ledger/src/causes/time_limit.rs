//! A limit on CPU time was used up; which one, the thread's priority would show.

use super::advised::{Advised, all_by_hand, throttling_off};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "time-limit",
    page: page!("time-limit"),
    group: CauseGroup::CpuTimeLimits,
    blames: Blames::Another,
    why,
    advice,
    details: Details { evidence: ChargedTime::did_not_run, starves: None, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let (waited, whose) = match late.lock_owner {
        Some(owner) => (format!("{thread} waited {charged} for a lock of {owner}, which"), "its owner"),
        None => (thread.clone(), "it"),
    };
    let passed_over = match late.lock_owner {
        Some(_) => format!("{waited} was runnable on CPU {cpu} but did not run"),
        None => format!(
            "{waited} was runnable on CPU {cpu} but did not run for {charged}, though the CPU was idle"
        ),
    };
    format!(
        "{passed_over}: RT throttling if {whose} is a real-time thread, or the CPU quota of its cgroup if {whose} is not; the \
         recording does not show its priority"
    )
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    let mut all = all_by_hand(
        "the recording does not show the thread's priority",
        &[
            "show which it is: chrt -p TID; perf sched timehist --prio (Linux 6.13) and perf script print priorities",
            "if it is SCHED_OTHER: raise or remove the quota of its cgroup: cpu.max (v1: cpu.cfs_quota_us); in Kubernetes the CPU limit",
            "if it is real-time: let the real-time threads of that CPU use less than 95 % of it",
        ],
    );
    all.push(AdvisedFix::new(
        "if it is real-time, as another way: sysctl kernel.sched_rt_runtime_us=-1 turns throttling off for the \
         whole machine; risk: a real-time thread that loops then hangs its CPU",
        throttling_off(),
    ));
    all
}
