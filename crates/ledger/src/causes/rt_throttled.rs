//! RT bandwidth control kept runnable real-time threads off the CPU.

use super::advised::{Advised, run_guard, throttling_off};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use whylate_base::AdvisedFix;

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
    let by = of.the_culprit();
    vec![
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
    ]
}
