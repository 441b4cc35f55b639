//! RT bandwidth control kept runnable real-time threads off the CPU while RT use was clearly under the limit.

use super::advised::{Advised, MACHINE, throttling_off};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "coarse-clock-throttled",
    page: page!("coarse-clock-throttled"),
    group: CauseGroup::CpuTimeLimits,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        evidence: ChargedTime::did_not_run,
        starves: Some("had used up the time of RT bandwidth control"),
        shows_bandwidth: true,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    format!(
        "RT throttling kept {thread} off CPU {cpu} for {charged} although real-time threads used little of it: the \
         scheduler's clock charges whole ticks to threads that run in phase with the tick"
    )
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![
        AdvisedFix::new(
            "sysctl kernel.sched_rt_runtime_us=-1: with this clock the limit does not measure what threads use",
            throttling_off(),
        ),
        AdvisedFix::by_hand(
            "use a scheduler clock that is finer than the tick: a TSC that the kernel trusts (see dmesg)",
            MACHINE,
        ),
    ]
}
