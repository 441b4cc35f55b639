//! It sleeps relative to now, and so drifts. A finding, never charged to a segment.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, lines, page};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "relative-sleep",
    page: page!("relative-sleep"),
    group: CauseGroup::OwnProgram,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details::DEFAULT,
};

fn why(late: &LateActivation<'_>) -> String {
    format!("{} sleeps relative to now, so each of its periods is longer by its own response", late.thread)
}

fn advice(_by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    lines(&[
        "sleep until the start of the next period: clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL)",
    ])
}
