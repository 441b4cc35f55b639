//! Slept in the kernel until a timer woke it.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "kernel-sleep",
    page: page!("kernel-sleep"),
    group: CauseGroup::MemoryAndDevices,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details { evidence, shown_by: ShownBy::Blocking, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    format!(
        "{thread} slept {charged} in the kernel until a timer woke it, in the middle of its work: a delay in a driver \
         that it called (msleep), or a timeout"
    )
}

fn evidence(time: &ChargedTime) -> String {
    format!("slept in the kernel until a timer woke it, {}", time.length)
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    all_by_hand(
        ITS_PROGRAM,
        &[
            "find the delay: record system calls (-e raw_syscalls) and the stack of the switch (echo stacktrace > \
         events/sched/sched_switch/trigger)",
            "call the driver from another thread: a real-time loop must not wait for it",
        ],
    )
}
