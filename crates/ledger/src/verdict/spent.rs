//! The thread's own time, where most of what is unusual of it was one system call, or the handler of a signal.

use crate::causes::advised::{ITS_PROGRAM, all_by_hand};
use crate::charge::notes::VerdictNote;
use crate::timeline::spent::Within;
use whylate_base::{AdvisedFix, Ns};

/// Calls that give memory to a program, and fill it at once where memory is locked; and calls that take memory away.
const FILLS: [&str; 8] = ["mmap", "mmap2", "mprotect", "mremap", "brk", "mlock", "mlock2", "mlockall"];
/// Short calls that took less than one part in so many are not what the thread did differently.
const NOTABLE_PART: i64 = 4;
const FREES: [&str; 3] = ["munmap", "madvise", "munlockall"];
const STARTS: [&str; 4] = ["fork", "clone", "clone3", "execve"];

/// What took most of the time beyond the usual, and how long: all of the `usual` work may have been in it as well.
pub(super) fn most(notes: &[VerdictNote], charged: Ns, usual: Ns) -> Option<(&Within, Ns)> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Spent { within, time }
            if *time > usual && (*time - usual).0.saturating_mul(2) >= charged.since(usual).0 =>
        {
            Some((within, *time))
        }
        _ => None,
    })
}

/// The short system calls that took a notable part of the time, how many, and how long. Of a time that is little more than usual, the usual
/// work may have made them.
pub(super) fn many(notes: &[VerdictNote], charged: Ns, usual: Ns) -> Option<(&Within, u64, Ns)> {
    if charged.0 < usual.0.saturating_mul(2) {
        return None;
    }
    notes.iter().find_map(|note| match note {
        VerdictNote::ManyCalls { within, times, time }
            if time.0.saturating_mul(NOTABLE_PART) >= charged.0 =>
        {
            Some((within, *times, *time))
        }
        _ => None,
    })
}

/// What is to be added to the sentence about them.
pub(super) fn sentence_on_many(within: &Within, times: u64, time: Ns) -> String {
    format!("; {time} of it in {times} calls of {}", within.place())
}

/// What helps against them.
pub(super) fn advice_on_many(within: &Within) -> AdvisedFix {
    let text = format!(
        "make fewer calls of {} in the real-time loop, or have another thread make them",
        within.place()
    );
    AdvisedFix::by_hand(text, ITS_PROGRAM)
}

/// What is to be added to the sentence.
pub(super) fn sentence(within: &Within, time: Ns) -> String {
    format!("; {time} of it in {}", within.place())
}

/// What helps against it.
pub(super) fn advice(within: &Within) -> Vec<AdvisedFix> {
    let name = within.name();
    let lines = match within {
        Within::Handler { .. } => vec![
            format!("do less in {name}, which runs in the middle of the thread's work"),
            "block the signal in this thread (pthread_sigmask), and let another one wait for it (sigwaitinfo, signalfd)"
                .to_owned(),
        ],
        Within::Call { name: Some(call), .. } if FILLS.contains(call) => vec![
            format!(
                "take {call} out of the real-time loop: map memory and start threads before it begins, and use them again"
            ),
            "where memory is locked (mlockall), all of what is mapped is filled at once: start threads with small stacks \
             (pthread_attr_setstacksize)"
                .to_owned(),
        ],
        Within::Call { name: Some(call), .. } if FREES.contains(call) => vec![
            format!("take {call} out of the real-time loop: keep memory, and use it again"),
            "let free() keep memory: mallopt(M_TRIM_THRESHOLD, -1), mallopt(M_MMAP_MAX, 0)".to_owned(),
        ],
        Within::Call { name: Some(call), .. } if STARTS.contains(call) => {
            vec![format!("take {call} out of the real-time loop: start threads and programs before it begins")]
        }
        Within::Call { .. } => {
            vec![format!("take the system call {name} out of the real-time loop: another thread can make it")]
        }
    };
    all_by_hand(ITS_PROGRAM, &lines.iter().map(String::as_str).collect::<Vec<_>>())
}
