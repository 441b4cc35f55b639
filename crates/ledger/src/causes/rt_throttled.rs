//! RT bandwidth control kept runnable real-time threads off the CPU.

use super::advised::{Advised, run_guard, throttling_off};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use whylate_base::{AdvisedFix, Priority};

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "rt-throttled",
    page: page!("rt-throttled"),
    group: CauseGroup::CpuTimeLimits,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        evidence,
        starves: Some("had used up the time of RT bandwidth control"),
        shows_bandwidth: true,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, rt_period, .. } = late;
    let Some(by) = late.culprit else {
        if !late.was_realtime {
            return format!(
                "{thread} was runnable on CPU {cpu} but did not run for {charged}, about what RT throttling takes of each \
                 {rt_period}, if it is a real-time thread; if it is not, the CPU quota of its cgroup was used up. The recording does \
                 not show its priority"
            );
        }
        return format!(
            "RT throttling kept {thread} off CPU {cpu} for {charged}: the real-time threads of that CPU had used up \
             their time"
        );
    };
    let runtime = late.rt_runtime.map_or_else(|| "their share".to_owned(), |ns| ns.to_string());
    format!(
        "RT throttling kept {thread} off CPU {cpu} for {charged}: {by} and the other real-time threads had used up \
         {runtime} of {rt_period} there"
    )
}

fn evidence(time: &ChargedTime) -> String {
    let after = time.culprit.as_ref().map_or_else(String::new, |by| format!("; {by} had used up the time"));
    format!("{}{after}", time.did_not_run())
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = match of.by {
        Some(_) => of.the_culprit(),
        None => "the real-time thread that uses most of this CPU".to_owned(),
    };
    let mut all = vec![
        AdvisedFix::new(
            format!(
                "let {by} sleep, or move it to another CPU: no real-time thread should use 95 % of a CPU that it shares"
            ),
            of.move_culprit(),
        ),
        AdvisedFix::new(
            format!(
                "if {by} is less urgent, make it SCHED_OTHER: chrt -o -p 0 TID; it then uses none of the real-time threads' time"
            ),
            of.demote_culprit(),
        ),
        AdvisedFix::new(
            "sysctl kernel.sched_rt_runtime_us=-1 turns throttling off for the whole machine; risk: a real-time thread \
             that loops then hangs its CPU",
            throttling_off(),
        ),
        AdvisedFix::new(
            "with throttling off, run whylate guard or stalld: it still gives starving threads some time",
            run_guard(),
        ),
    ];
    if of.priority == Some(Priority::UNKNOWN) {
        all.push(AdvisedFix::by_hand(
            "if it is SCHED_OTHER: raise or remove the quota of its cgroup: cpu.max (v1: cpu.cfs_quota_us)",
            "the recording does not show the thread's priority",
        ));
    }
    all
}
