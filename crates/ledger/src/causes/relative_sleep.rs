//! It sleeps relative to now, and so drifts. A finding, never charged to a segment.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::AdvisedFix;

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

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    all_by_hand(
        ITS_PROGRAM,
        &[
            "sleep until an absolute time, the start of the next period, and count that from the one before (next += period), not from the \
             time now: in C clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL), in PHP time_sleep_until(); where \
             a language has no such call, sleep for what is left until then",
            "arm a timer once, with an interval (in C it_interval), or until an instant (TFD_TIMER_ABSTIME, TIMER_ABSTIME)",
        ],
    )
}
