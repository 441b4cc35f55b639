//! A timer that came late because the clock by which it was due runs faster than the timer hardware.

use crate::causes::advised::all_by_hand;
use crate::timeline::slew::Slew;
use whylate_base::{AdvisedFix, Ns};

/// Why `thread` was late.
pub(super) fn sentence(thread: &str, slew: Slew, charged: Ns, adjusted: bool) -> String {
    let percent = slew.rate * 100.0;
    let by =
        if adjusted { "a program adjusted it (adjtimex)" } else { "adjtimex of chronyd, ntpd or phc2sys" };
    match slew.is_shown {
        true => format!(
            "the timer of {thread} came {charged} late because the clock is slewed: timers of all lengths are late by {percent:.1} % of \
             their wait, as the timer hardware is programmed at the nominal rate while the clock runs faster ({by})"
        ),
        false => format!(
            "the timer of {thread} came {charged} late, by {percent:.1} % of its wait: the clock may be slewed ({by}), which then runs \
             faster than the timer hardware; too few timers show whether that is so, or the CPU stood still"
        ),
    }
}

/// What to do about it.
pub(super) fn advice() -> Vec<AdvisedFix> {
    all_by_hand(
        "it is about how the machine's clock is kept",
        &[
            "let the clock be right before the real-time program starts: step it at boot (makestep of chrony, -g of ntpd), and wait \
             until it is synchronized (chronyc waitsync)",
            "slew it by less: maxslewrate of chrony (in parts per million; 10000 make a timer of 10 ms late by 100 us)",
        ],
    )
}
