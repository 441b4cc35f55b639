//! Slept in the kernel until a timer woke it.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, page};
use whylate_base::{Action, AdvisedFix};

/// Calls that write to files. Where too many pages are dirty, the kernel makes them sleep (`balance_dirty_pages()`,
/// `mm/page-writeback.c`).
const WRITES: [&str; 7] = ["write", "writev", "pwrite64", "pwritev", "pwritev2", "sendfile", "splice"];

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
    let LateActivation { thread, charged, writeback, .. } = late;
    let Some(within) = late.slept_in else {
        return format!(
            "{thread} slept {charged} in the kernel until a timer woke it, in the middle of its work: a delay in a driver \
             that it called (msleep), or a timeout"
        );
    };
    let is_write = within.call().is_some_and(|call| WRITES.contains(&call));
    let what = match (is_write, writeback) {
        (true, true) => {
            "it had dirty pages written to the device itself, so there were too many of them, and the kernel makes threads wait that write \
             more (balance_dirty_pages)"
        }
        (true, false) => {
            "the kernel makes threads wait that write where too many pages are dirty (balance_dirty_pages), or it is a delay in a \
             driver (msleep)"
        }
        (false, _) => "a delay in a driver (msleep), or a timeout",
    };
    format!("{thread} slept {charged} in {} until a timer woke it: {what}", within.place())
}

fn evidence(time: &ChargedTime) -> String {
    format!("slept in the kernel until a timer woke it, {}", time.length)
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    match of.call {
        Some(call) if WRITES.contains(&call) => on_dirty_pages(call),
        Some(call) => all_by_hand(
            ITS_PROGRAM,
            &[
                &format!(
                    "make the call {call} from another thread: a real-time loop must not wait for a driver"
                ),
                FIND_STACK,
            ],
        ),
        None => {
            let find = match of.shows_calls {
                true => FIND_STACK,
                false => {
                    "find the delay: record system calls (-e raw_syscalls) and the stack of the switch (echo stacktrace > \
                     events/sched/sched_switch/trigger)"
                }
            };
            all_by_hand(
                ITS_PROGRAM,
                &[find, "call the driver from another thread: a real-time loop must not wait for it"],
            )
        }
    }
}

const FIND_STACK: &str =
    "find the delay: record the stack of the switch (echo stacktrace > events/sched/sched_switch/trigger)";

fn on_dirty_pages(call: &str) -> Vec<AdvisedFix> {
    let thread =
        format!("leave {call} to a thread of its own: a real-time loop must not wait for a file system");
    vec![
        AdvisedFix::by_hand(thread, ITS_PROGRAM),
        AdvisedFix::new(
            "let more pages be dirty, and have them written earlier: a greater vm.dirty_bytes or vm.dirty_ratio, a smaller \
             vm.dirty_background_bytes",
            Action::by_hand("how many pages the device can write in time depends on it"),
        ),
        AdvisedFix::by_hand(
            "have the pages written as they come, before there are too many: sync_file_range(2) in that thread, or O_DIRECT",
            ITS_PROGRAM,
        ),
    ]
}
