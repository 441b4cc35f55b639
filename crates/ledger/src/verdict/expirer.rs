//! The thread that runs expired timers (`ktimers/N`, `ksoftirqd/N`), where that is what was delayed.

use crate::causes::Cause;
use crate::charge::notes::{VerdictNote, shown};
use crate::model::{Activation, Culprit, Segment};
use whylate_base::Ns;

/// That thread, if all that is charged to `key` is its wait.
pub(crate) fn of(
    notes: &[VerdictNote],
    judged: &[Segment],
    key: (Cause, Option<Culprit>),
) -> Option<Culprit> {
    let ends = judged.iter().filter(|segment| (segment.cause, segment.by) == key).map(|segment| segment.end);
    until(notes, ends.max()?)
}

/// That thread, if it had waited up to `end` or beyond.
pub(super) fn until(notes: &[VerdictNote], end: Ns) -> Option<Culprit> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Expirer { thread, until } if end <= *until => Some(*thread),
        _ => None,
    })
}

/// Why a thread was late, where `expirer` waited: for the CPU, or for a lock of `owner`.
pub(super) fn why(
    activation: &Activation,
    (by, charged): (Option<Culprit>, Ns),
    expirer: &Culprit,
    owner: Option<&Culprit>,
    notes: &[VerdictNote],
) -> String {
    let named = by.map_or_else(|| "another thread".to_owned(), |by| shown(notes, &by));
    let what = match owner {
        Some(owner) if by == Some(*owner) => {
            format!("{named} held a lock of the kernel for which {expirer} waited {charged}")
        }
        Some(owner) => {
            let owner = shown(notes, owner);
            format!(
                "{named} kept {owner}, which held a lock of the kernel for {expirer}, off the CPU for {charged}"
            )
        }
        None => format!("{named} kept {expirer} off the CPU for {charged}"),
    };
    let it = if owner.is_some() { expirer.to_string() } else { "that thread".to_owned() };
    let Activation { comm, priority, .. } = activation;
    format!("{what}: {it} runs the timer that wakes {comm} ({priority})")
}
