//! An apply that is undone unless the user confirms: for machines that a mistake makes unreachable.

use crate::journal::{Journal, JournalEntry, JournalError};
use crate::{JournalRecord, Timestamp};

/// Says when an apply is to be undone; before its first step, as that may be the one that cuts off.
///
/// # Errors
/// If it cannot be written.
pub fn arm(journal: &mut Journal, until: Timestamp) -> Result<(), JournalError> {
    journal.append(JournalRecord::Armed { until }, true)
}

/// Says that an apply is to stay.
///
/// # Errors
/// If it cannot be written.
pub fn confirm(journal: &mut Journal, at: Timestamp) -> Result<(), JournalError> {
    journal.append(JournalRecord::Confirmed { at }, true)
}

/// What is to be done about an apply that waits to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevertDue {
    /// Nothing: it was confirmed, undone, or never waited.
    Settled,
    /// It is undone at that time.
    At(Timestamp),
    /// It is to be undone now: its time has come, or the machine was started anew, which no timer survives.
    Now,
}

/// Whether an apply is to be undone, at a time and in a boot.
pub fn due(entry: &JournalEntry, now: Timestamp, boot_id: Option<&str>) -> RevertDue {
    let Some(until) = entry.armed.filter(|_| entry.is_unconfirmed()) else { return RevertDue::Settled };
    let same_boot = entry.sessions.first().is_none_or(|session| session.is_of(boot_id));
    match same_boot && now < until {
        true => RevertDue::At(until),
        false => RevertDue::Now,
    }
}
