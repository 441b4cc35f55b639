//! The CPU controller's quota was used up.

use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

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

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&[
        "raise or remove the quota of the thread's cgroup: cpu.max (v1: cpu.cfs_quota_us); in Kubernetes the CPU limit",
        "allow a burst: cpu.max.burst (v1: cpu.cfs_burst_us, Linux 5.14)",
    ])
}
