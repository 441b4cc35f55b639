//! Which applies are in effect, and what becomes of them: at the next boot, by a rollback, after an interruption.

use crate::journal::{JournalEntry, JournalError, JournalSession};
use crate::revert::{ClockReading, RevertDue, due};
use crate::rollback::rollback;
use crate::run::RunContext;
use crate::store::{JournalStore, StoreLock};
use crate::{SessionOutcome, Status};

/// What happens to the applies of a machine at boot, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootDecision {
    /// To be undone first, in this order: the first apply that was not confirmed in time, and before it all later ones.
    pub undo: Vec<u64>,
    /// To be reapplied, in this order.
    pub reapply: Vec<u64>,
    /// Neither.
    pub skipped: Vec<BootSkipped>,
}

/// An apply whose settings are not reapplied at boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootSkipped {
    /// It is not whole.
    Unfinished(u64, Status),
    /// Its settings were made in this boot.
    AlreadySet(u64),
}

/// Decides what happens to applies at boot. No timer survives a reboot, so an apply that waits to be confirmed is
/// undone; so are those after it, which build on it.
pub fn at_boot(entries: &[JournalEntry], now: &ClockReading, boot_id: Option<&str>) -> BootDecision {
    let in_effect = || entries.iter().filter(|entry| entry.is_in_effect());
    let unconfirmed = in_effect().find(|entry| due(entry, now, boot_id) == RevertDue::Now);
    let first = unconfirmed.map_or(u64::MAX, |entry| entry.id);
    let mut decision = BootDecision::default();
    let is_of_this = |session: &JournalSession| boot_id.is_some() && session.boot_id.as_deref() == boot_id;
    for entry in in_effect() {
        match entry.status() {
            _ if entry.id >= first => decision.undo.insert(0, entry.id),
            Status::Applied if entry.sessions.iter().any(is_of_this) => {
                decision.skipped.push(BootSkipped::AlreadySet(entry.id));
            }
            Status::Applied => decision.reapply.push(entry.id),
            status => decision.skipped.push(BootSkipped::Unfinished(entry.id, status)),
        }
    }
    decision
}

/// The last apply in effect, where it is not whole: nothing else is applied before it is resumed or rolled back.
///
/// # Errors
/// If a journal cannot be read.
pub fn unfinished(store: &JournalStore) -> Result<Option<JournalEntry>, JournalError> {
    for id in store.ids()?.into_iter().rev() {
        let entry = store.load(id)?;
        if entry.is_in_effect() {
            let is_cut = matches!(entry.status(), Status::Stopped | Status::Failed | Status::Interrupted);
            return Ok(Some(entry).filter(|_| is_cut));
        }
    }
    Ok(None)
}

/// What a rollback undoes.
#[derive(Debug, Default)]
pub struct RollbackTargets {
    /// The applies, last first.
    pub ids: Vec<u64>,
    /// Later ones than the first of them whose journals cannot be read, and why: they stay as they are. A target that
    /// one of them changed again is left unchanged by the rollback, as any that is not as the apply left it.
    pub unreadable: Vec<(u64, JournalError)>,
}

/// The applies that a rollback undoes: those in effect from `to` on, or the last one in effect.
///
/// # Errors
/// If there is no apply of that number, or its journal cannot be read; without a number, if the journal of the last
/// apply that may be in effect cannot be read.
pub fn rollback_targets(store: &JournalStore, to: Option<u64>) -> Result<RollbackTargets, JournalError> {
    let ids = store.ids()?;
    if let Some(id) = to.filter(|to| !ids.contains(to)) {
        return Err(JournalError::NoSuch { id });
    }
    let mut targets = RollbackTargets::default();
    for id in ids.into_iter().rev().take_while(|&id| to.is_none_or(|to| id >= to)) {
        match store.load(id) {
            Ok(entry) if entry.is_in_effect() => {
                targets.ids.push(id);
                if to.is_none() {
                    break;
                }
            }
            Ok(_) => {}
            Err(error) if to.is_some_and(|to| id > to) => targets.unreadable.push((id, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(targets)
}

/// What became of several applies.
#[derive(Debug)]
pub struct RolledBack {
    /// Their entries, in the order in which they were undone.
    pub entries: Vec<JournalEntry>,
    /// The worst outcome.
    pub outcome: SessionOutcome,
    /// Why a rollback could not be journaled.
    pub unrecorded: Vec<JournalError>,
}

/// Undoes applies, in this order. One that is undone in part does not keep the others from being undone: what it left
/// belongs to another program by now.
///
/// # Errors
/// If a journal cannot be opened.
pub fn rollback_all(
    store: &JournalStore,
    lock: &StoreLock,
    ids: &[u64],
    force: bool,
    run: &RunContext<'_>,
) -> Result<RolledBack, JournalError> {
    let mut all =
        RolledBack { entries: Vec::new(), outcome: SessionOutcome::Complete, unrecorded: Vec::new() };
    for &id in ids {
        let mut journal = store.open(lock, id)?;
        let undone = rollback(&mut journal, force, run);
        all.entries.push(journal.entry().clone());
        all.unrecorded.extend(undone.unrecorded);
        if undone.outcome != SessionOutcome::Complete {
            all.outcome = undone.outcome;
        }
        if undone.outcome == SessionOutcome::Stopped {
            break;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SessionKind, Timestamp};

    fn applied(id: u64, boot: &str) -> JournalEntry {
        let session = JournalSession {
            kind: SessionKind::Apply,
            boot_id: Some(boot.to_owned()),
            at: Timestamp(1),
            steps: Vec::new(),
            end: Some((SessionOutcome::Complete, Timestamp(2))),
        };
        JournalEntry { id, sessions: vec![session], ..JournalEntry::default() }
    }

    fn decided(entries: &[JournalEntry]) -> BootDecision {
        at_boot(entries, &ClockReading { wall: Timestamp(10), boot: None }, Some("now"))
    }

    #[test]
    fn whole_applies_of_other_boots_are_reapplied_in_order() {
        let mut cut = applied(3, "old");
        cut.sessions[0].end = None;
        let decision = decided(&[applied(1, "old"), applied(2, "now"), cut, applied(4, "old")]);
        assert_eq!(decision.undo, Vec::<u64>::new());
        assert_eq!(decision.reapply, [1, 4]);
        let skipped = [BootSkipped::AlreadySet(2), BootSkipped::Unfinished(3, Status::Interrupted)];
        assert_eq!(decision.skipped, skipped);
    }

    #[test]
    fn an_unconfirmed_apply_is_undone_after_all_later_ones() {
        let unconfirmed = JournalEntry { armed: Some(Timestamp(1_000)), ..applied(2, "old") };
        let decision = decided(&[applied(1, "old"), unconfirmed.clone(), applied(3, "old")]);
        assert_eq!((decision.undo, decision.reapply), (vec![3, 2], vec![1]));
        let confirmed = JournalEntry { confirmed: Some(Timestamp(5)), ..unconfirmed };
        assert_eq!(decided(&[confirmed]).reapply, [2]);
    }
}
