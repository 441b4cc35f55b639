//! The kernel handled its page fault.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "page-fault",
    page: page!("page-fault"),
    group: CauseGroup::MemoryAndDevices,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details { evidence, shown_by: ShownBy::Faults, ..Details::DEFAULT },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    format!("{thread} touched memory that was not mapped: {charged} of page faults")
}

fn evidence(time: &ChargedTime) -> String {
    format!("page fault, {}", time.length)
}

fn advice(_: &Advised<'_>) -> Vec<AdvisedFix> {
    all_by_hand(
        ITS_PROGRAM,
        &[
            "in a small program call mlockall(MCL_CURRENT | MCL_FUTURE) at start, and touch all stack and heap before the loop begins",
            "in a large program lock only what the loop uses: mlock, or mlock2 with MLOCK_ONFAULT, and touch it before the loop begins",
            "allocate nothing in the loop; with glibc: mallopt(M_TRIM_THRESHOLD, -1), mallopt(M_MMAP_MAX, 0)",
        ],
    )
}
