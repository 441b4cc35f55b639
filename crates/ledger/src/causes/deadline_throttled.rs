//! A SCHED_DEADLINE thread had used up the runtime of its period.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "deadline-throttled",
    page: page!("deadline-throttled"),
    group: CauseGroup::CpuTimeLimits,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details { evidence, starves: Some("had used up its runtime"), ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    format!(
        "{thread} had used up the runtime of its reservation (SCHED_DEADLINE), and was kept off CPU {cpu} for {charged} until \
         its next period"
    )
}

fn evidence(time: &ChargedTime) -> String {
    time.did_not_run()
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let runtime = format!(
        "give it a runtime above what one activation needs, here {}: chrt -d --sched-runtime NS --sched-deadline NS \
         --sched-period NS 0 COMMAND",
        of.own_time
    );
    all_by_hand(
        ITS_PROGRAM,
        &[
            &runtime,
            "find what it did in this activation that it does not do in others; with SCHED_FLAG_DL_OVERRUN it gets SIGXCPU \
             when its runtime is used up, with SCHED_FLAG_RECLAIM it may use what other reservations leave",
        ],
    )
}
