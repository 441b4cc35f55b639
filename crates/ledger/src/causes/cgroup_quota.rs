//! The CPU controller's quota was used up.

use super::advised::{Advised, all_by_hand};
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
    format!(
        "{thread} was runnable on CPU {cpu} but did not run for {charged}: its cgroup's CPU quota was used up"
    )
}

fn evidence(time: &ChargedTime) -> String {
    let refilled = if time.is_sure { ", until the quota of its cgroup was refilled" } else { "" };
    format!("{}{refilled}", time.did_not_run())
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    all_by_hand(
        "the recording does not show which cgroup the thread belongs to",
        &[
            "raise or remove the quota of the thread's cgroup: cpu.max (v1: cpu.cfs_quota_us); in Kubernetes the CPU limit",
            "allow a burst: cpu.max.burst (v1: cpu.cfs_burst_us, Linux 5.14)",
        ],
    )
}
