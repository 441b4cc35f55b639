//! The slack that the timers of a SCHED_OTHER thread have.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
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
    if of.charged < SET {
        return vec![raise];
    }
    let find = "find what sets so much: the program itself (PR_SET_TIMERSLACK), what started it (TimerSlackNSec= of systemd), or a program that \
                writes to /proc/PID/timerslack_ns";
    // `select_estimate_accuracy()`, fs/select.c.
    let polls = "if it waits by poll, select or epoll: these take a thousandth of the timeout, and five times as much with a nice value above 0, \
                 whatever slack is set; wait for a timerfd in place of a timeout, or sleep by clock_nanosleep";
    [vec![raise], all_by_hand(ITS_PROGRAM, &[find, polls])].concat()
}
