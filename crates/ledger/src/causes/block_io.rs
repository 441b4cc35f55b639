//! Waited for a device.

use super::advised::{Advised, ITS_PROGRAM, RECORD, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

/// Calls that write to a file.
const WRITES: [&str; 5] = ["write", "writev", "pwrite64", "pwritev", "pwritev2"];

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "block-io",
    page: page!("block-io"),
    group: CauseGroup::MemoryAndDevices,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details { evidence, shown_by: ShownBy::Blocking, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, is_sure, waits_to_end, device_calls, .. } = late;
    let place = match *device_calls {
        [] => "in the middle of its work".to_owned(),
        [(call, _)] => format!("in the system call {call}"),
        calls => {
            let each = calls.iter().map(|(call, time)| format!("{call} ({time})"));
            format!("in the system calls {}", each.collect::<Vec<_>>().join(" and "))
        }
    };
    if *is_sure {
        return format!("{thread} waited {charged} for a device {place}");
    }
    let woken = match waits_to_end {
        true => "the recording ends before it is woken",
        false => "the recording does not show which",
    };
    format!("{thread} slept uninterruptibly for {charged} {place}: for a device, a lock or a timer; {woken}")
}

fn evidence(time: &ChargedTime) -> String {
    match time.is_sure {
        true => format!("slept for a device, {}", time.length),
        false => format!("slept uninterruptibly, perhaps for a device, {}", time.length),
    }
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.in_doubt {
        let events = match of.shows_wakings {
            true => "sched:sched_blocked_reason",
            false => "sched:sched_waking and sched:sched_blocked_reason",
        };
        let what =
            format!("see what it sleeps in, while it does: cat /proc/TID/stack; or record {events} as well");
        return all_by_hand(RECORD, &[&what]);
    }
    let calls: Vec<&str> = of.device_calls.iter().map(|(call, _)| *call).collect();
    let what = match calls.is_empty() {
        true => "move input and output to another thread".to_owned(),
        false => format!("leave {} to another thread", calls.join(" and ")),
    };
    let mut fixes = vec![format!("{what}: a real-time loop must not wait for a device")];
    // `block_write_begin()`, `fs/buffer.c`
    if !of.whole_pages && calls.iter().any(|call| WRITES.contains(call)) {
        fixes.push(
            "a write to a part of a page that is not in the page cache waits until that is read: write whole pages, or to a file \
             that is cached"
                .to_owned(),
        );
    }
    all_by_hand(ITS_PROGRAM, &fixes.iter().map(String::as_str).collect::<Vec<_>>())
}
