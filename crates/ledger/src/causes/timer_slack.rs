//! The slack that the timers of a SCHED_OTHER thread have.

use super::advised::{Advised, ITS_PROGRAM};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::{AdvisedFix, Ns};

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

/// More than the kernel gives a thread was set by a program.
const SET: Ns = Ns::from_ms(1);

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let raise = AdvisedFix::new(
        "make the thread real-time, or set its slack: prctl(PR_SET_TIMERSLACK, 1)",
        of.raise_late(),
    );
    let find = AdvisedFix::by_hand(
        "find what sets so much: the program itself (PR_SET_TIMERSLACK), what started it (TimerSlackNSec= of systemd), or a program that \
         writes to /proc/PID/timerslack_ns",
        ITS_PROGRAM,
    );
    [Some(raise), (of.charged >= SET).then_some(find)].into_iter().flatten().collect()
}
