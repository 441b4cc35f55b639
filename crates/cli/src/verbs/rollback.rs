//! `whylate rollback`

use super::tuning::Site;
use crate::args::RollbackArgs;
use crate::outcome::Outcome;
use crate::output::say;
use crate::report::Destination;
use crate::signals;
use anyhow::Result;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use whylate_report::apply::Applies;
use whylate_tuning::{
    JournalEntry, RevertDue, RollbackResult, RolledBack, SessionOutcome, StoreLock, Timestamp, boot_id, due,
    rollback_targets,
};

pub(crate) fn run(args: &RollbackArgs) -> Result<Outcome> {
    let destination = Destination::of::<Applies<'_>>(&args.output, &[])?;
    let site = Site::open(&args.place)?;
    if let (Some(wait), Some(id)) = (args.after, args.unconfirmed)
        && !still_due(&site, id, Duration::from_nanos(wait.0.unsigned_abs()))
    {
        return Ok(Outcome::Done);
    }
    let lock = match args.unconfirmed {
        // An apply may still run when the time comes: then it is undone right afterwards.
        Some(_) => site.store.wait_for_lock("whylate rollback")?,
        None => site.store.lock("whylate rollback")?,
    };
    let targets = match args.unconfirmed {
        Some(id) => unconfirmed(&site, id)?,
        None => rollback_targets(&site.store, args.to)?,
    };
    if targets.is_empty() {
        say!("nothing to roll back: see `whylate history`");
        destination.write(&Applies(&[]))?;
        return Ok(Outcome::Done);
    }
    let stop = signals::stop_flags()?;
    let asked = || stop.asked.load(Ordering::Acquire);
    let undone = undo_all(&site, &lock, &targets, args.force, &asked)?;
    destination.write(&Applies(&undone.entries))?;
    Ok(match undone.outcome {
        SessionOutcome::Complete => Outcome::Done,
        SessionOutcome::Stopped => Outcome::Failed,
        SessionOutcome::Failed if undone.entries.iter().any(has_failed) => Outcome::Failed,
        SessionOutcome::Failed => Outcome::Found,
    })
}

/// Undoes applies, in this order; reports what could not be journaled.
pub(crate) fn undo_all(
    site: &Site,
    lock: &StoreLock,
    ids: &[u64],
    force: bool,
    stop: &dyn Fn() -> bool,
) -> Result<RolledBack> {
    let undone = site.run(stop, |run| whylate_tuning::rollback_all(&site.store, lock, ids, force, run))?;
    for error in &undone.unrecorded {
        say!("whylate: cannot journal the rollback: {error}");
    }
    Ok(undone)
}

/// The applies to undo where one was not confirmed in time; none where it was.
fn unconfirmed(site: &Site, id: u64) -> Result<Vec<u64>> {
    let entry = site.store.load(id)?;
    let boot = boot_id(&whylate_tuning::System::tree(&site.system));
    match due(&entry, Timestamp::now(), boot.as_deref()) {
        RevertDue::Now => Ok(rollback_targets(&site.store, Some(id))?),
        RevertDue::Settled | RevertDue::At(_) => Ok(Vec::new()),
    }
}

/// Waits; false as soon as there is nothing to wait for any more.
fn still_due(site: &Site, id: u64, wait: Duration) -> bool {
    let end = Instant::now() + wait;
    loop {
        // Of one that is armed and has not begun yet nothing is in effect.
        let waits = |entry: &JournalEntry| {
            entry.confirmed.is_none() && (entry.sessions.is_empty() || entry.is_unconfirmed())
        };
        if !site.store.load(id).is_ok_and(|entry| waits(&entry)) {
            return false;
        }
        match end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return true,
            left => std::thread::sleep(left.min(Duration::from_secs(1))),
        }
    }
}

fn has_failed(entry: &JournalEntry) -> bool {
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    steps.into_iter().any(|taken| matches!(taken.back, Some((RollbackResult::Failed, _))))
}
