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
    let LateActivation { thread, charged, forked, .. } = late;
    let fork = if *forked { ", after a fork of its process" } else { "" };
    match late.write_protected {
        Some(1) => {
            format!(
                "{thread} wrote to a page that was there and write-protected{fork}: {charged} of page faults"
            )
        }
        Some(times) => {
            format!(
                "{thread} wrote {times} times to pages that were there and write-protected{fork}: {charged} of page faults"
            )
        }
        None => format!("{thread} touched memory that was not mapped: {charged} of page faults"),
    }
}

fn evidence(time: &ChargedTime) -> String {
    format!("page fault, {}", time.length)
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.write_protected {
        let fork = "fork before the loop begins, or not from the process with the loop: madvise(MADV_DONTFORK) for its memory, \
                    posix_spawn(3) to start programs; locked memory (mlockall) is write-protected all the same";
        if of.forked {
            return all_by_hand(ITS_PROGRAM, &[fork]);
        }
        return all_by_hand(
            ITS_PROGRAM,
            &[
                "find what write-protects the pages: a monitor or CRIU that clears soft-dirty bits (/proc/PID/clear_refs), KSM \
                 (/sys/kernel/mm/ksm/run), a userfaultfd, the writeback of a file that is mapped shared, or a fork of the program",
                fork,
            ],
        );
    }
    let lock = match of.memory_locked {
        true => {
            "the program has locked its memory (mlockall): what it touches first is mapped in the loop, or given back and taken again; \
             map and fill all of it before the loop begins"
        }
        false => {
            "in a small program call mlockall(MCL_CURRENT | MCL_FUTURE) at start, and touch all stack and heap before the loop begins"
        }
    };
    let allocate =
        "allocate nothing in the loop; with glibc: mallopt(M_TRIM_THRESHOLD, -1), mallopt(M_MMAP_MAX, 0)";
    let part = "in a large program lock only what the loop uses: mlock, or mlock2 with MLOCK_ONFAULT, and touch it before the loop begins";
    match of.memory_locked {
        true => all_by_hand(ITS_PROGRAM, &[lock, allocate]),
        false => all_by_hand(ITS_PROGRAM, &[lock, part, allocate]),
    }
}
