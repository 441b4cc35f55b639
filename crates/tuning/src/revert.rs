//! An apply that is undone unless the user confirms: for machines that a mistake makes unreachable.

use crate::journal::{Journal, JournalEntry, JournalError};
use crate::{BootInstant, JournalRecord, Timestamp};
use std::time::Duration;

/// What the clocks show. The wall clock may be set back, or forward by years, as at the first contact with a time
/// server: it counts only where a journal has nothing better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The wall clock.
    pub wall: Timestamp,
    /// The running kernel's; `None`: it cannot be read.
    pub boot: Option<BootInstant>,
}

impl ClockReading {
    /// Now.
    pub fn now() -> ClockReading {
        ClockReading { wall: Timestamp::now(), boot: BootInstant::now() }
    }
}

/// Says how long after `now` an apply is to be undone; before its first step, as that may be the one that cuts off.
///
/// # Errors
/// If it cannot be written.
pub fn arm(journal: &mut Journal, now: ClockReading, after: Duration) -> Result<(), JournalError> {
    let seconds = i64::try_from(after.as_secs()).unwrap_or(i64::MAX);
    let until = Timestamp(now.wall.0.saturating_add(seconds));
    let deadline = now.boot.map(|boot| boot.after(after));
    journal.append(JournalRecord::Armed { until, deadline }, true)
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

/// Whether an apply is to be undone, at a time and in a boot of the machine.
pub fn due(entry: &JournalEntry, now: &ClockReading, boot_id: Option<&str>) -> RevertDue {
    let Some(until) = entry.armed.filter(|_| entry.is_unconfirmed()) else { return RevertDue::Settled };
    let same_boot = entry.sessions.first().is_none_or(|session| session.is_of(boot_id));
    let has_come = match (&entry.deadline, &now.boot) {
        (Some(deadline), Some(now)) => deadline.boot_id != now.boot_id || now.ms >= deadline.ms,
        _ => now.wall >= until,
    };
    match same_boot && !has_come {
        true => RevertDue::At(until),
        false => RevertDue::Now,
    }
}
