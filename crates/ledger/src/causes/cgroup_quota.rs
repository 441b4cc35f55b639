//! The CPU controller's quota was used up.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "cgroup-quota",
    page: page!("cgroup-quota"),
    group: CauseGroup::CpuTimeLimits,
    blames: Blames::Another,
    why,
    advice,
    details: Details { evidence, starves: None, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    if let Some(owner) = late.lock_owner {
        return format!(
            "{thread} waited {charged} for a lock of {owner}, which was runnable on CPU {cpu} but did not run: its cgroup's CPU \
             quota was used up"
        );
    }
    format!(
        "{thread} was runnable on CPU {cpu} but did not run for {charged}: its cgroup's CPU quota was used up"
    )
}

fn evidence(time: &ChargedTime) -> String {
    let used_up = if time.is_sure { ": the quota of its cgroup was used up" } else { "" };
    match &time.culprit {
        Some(owner) => format!("{owner} held the lock and did not run for {}{used_up}", time.length),
        None => format!("{}{used_up}", time.did_not_run()),
    }
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if let Some(owner) = of.lock_owner {
        return vec![
            AdvisedFix::by_hand(
                "give the lock priority inheritance (PTHREAD_PRIO_INHERIT): an owner that runs at a real-time priority has no quota",
                ITS_PROGRAM,
            ),
            AdvisedFix::by_hand(
                format!("raise or remove the quota of {owner}'s cgroup: cpu.max (v1: cpu.cfs_quota_us)"),
                "the recording does not show which cgroup the thread belongs to",
            ),
            AdvisedFix::by_hand("share no lock with a thread that has a quota", ITS_PROGRAM),
        ];
    }
    all_by_hand(
        "the recording does not show which cgroup the thread belongs to",
        &[
            "raise or remove the quota of the thread's cgroup: cpu.max (v1: cpu.cfs_quota_us); in Kubernetes the CPU limit",
            "allow a burst: cpu.max.burst (v1: cpu.cfs_burst_us, Linux 5.14)",
        ],
    )
}
