//! The slack that the timers of a SCHED_OTHER thread have.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "timer-slack",
    page: page!("timer-slack"),
    group: CauseGroup::WakeUpPath,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details::DEFAULT,
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    format!("{thread} is not real-time, and the kernel delayed its timer by {charged} of timer slack")
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![AdvisedFix::new(
        "make the thread real-time, or set its slack: prctl(PR_SET_TIMERSLACK, 1)",
        of.raise_late(),
    )]
}
