//! The slack that the timers of a SCHED_OTHER thread have.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

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

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&["make the thread real-time, or set its slack: prctl(PR_SET_TIMERSLACK, 1)"])
}
