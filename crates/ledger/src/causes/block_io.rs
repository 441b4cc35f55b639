//! Waited for a device.

use super::advised::{Advised, ITS_PROGRAM, RECORD, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

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
    let LateActivation { thread, charged, is_sure, waits_to_end, .. } = late;
    if *is_sure {
        return format!("{thread} waited {charged} for a device in the middle of its work");
    }
    let woken = match waits_to_end {
        true => "the recording ends before it is woken",
        false => "the recording does not show which",
    };
    format!(
        "{thread} slept uninterruptibly for {charged} in the middle of its work: for a device, a lock or a timer; {woken}"
    )
}

fn evidence(time: &ChargedTime) -> String {
    match time.is_sure {
        true => format!("slept for a device, {}", time.length),
        false => format!("slept uninterruptibly, perhaps for a device, {}", time.length),
    }
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.in_doubt {
        let what = "see what it sleeps in, while it does: cat /proc/TID/stack; or record sched:sched_waking and \
                    sched:sched_blocked_reason as well";
        return all_by_hand(RECORD, &[what]);
    }
    all_by_hand(
        ITS_PROGRAM,
        &["move input and output to another thread: a real-time loop must not wait for a device"],
    )
}
