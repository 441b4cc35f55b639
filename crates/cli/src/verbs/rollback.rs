//! `whylate rollback`

use super::tuning::{Site, answer, undo};
use crate::args::RollbackArgs;
use crate::outcome::Outcome;
use crate::output::{self, say};
use crate::signals;
use anyhow::{Result, bail};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use whylate_tuning::{
    JournalEntry, RevertDue, RollbackResult, SessionOutcome, StoreLock, Timestamp, boot_id, due,
};

pub(crate) fn run(args: &RollbackArgs) -> Result<Outcome> {
    let site = Site::open(&args.place)?;
    if let (Some(wait), Some(id)) = (args.after, args.unconfirmed)
        && !still_due(&site, id, Duration::from_nanos(wait.0.unsigned_abs()))
    {
        return Ok(Outcome::Done);
    }
    let lock = match args.unconfirmed {
        // Whoever applies is still at it when the time comes: then it is undone right afterwards.
        Some(_) => site.store.wait_for_lock("whylate rollback")?,
        None => site.store.lock("whylate rollback")?,
    };
    let targets = match args.unconfirmed {
        Some(id) => unconfirmed(&site, id)?,
        None => targets(&site, args.to)?,
    };
    if targets.is_empty() {
        say!("nothing to roll back: `whylate history` shows what was applied");
        if args.place.json {
            output::print_json(&whylate_report::apply::json::render(&[]))?;
        }
        return Ok(Outcome::Done);
    }
    let stop = signals::stop_flags()?;
    let asked = || stop.asked.load(Ordering::Acquire);
    let (entries, how) = undo_all(&site, &lock, &targets, args.force, &asked)?;
    answer(&entries, &args.place)?;
    Ok(match how {
        SessionOutcome::Complete => Outcome::Done,
        SessionOutcome::Stopped => Outcome::Failed,
        SessionOutcome::Failed if entries.iter().any(has_failed) => Outcome::Failed,
        SessionOutcome::Failed => Outcome::Found,
    })
}

/// Undoes applies, in this order; how the worst of it ended. An apply that was left in part does not keep the others
/// from being undone: what it left is somebody else's by now.
pub(crate) fn undo_all(
    site: &Site,
    lock: &StoreLock,
    ids: &[u64],
    force: bool,
    stop: &dyn Fn() -> bool,
) -> Result<(Vec<JournalEntry>, SessionOutcome)> {
    let (mut entries, mut worst) = (Vec::new(), SessionOutcome::Complete);
    for &id in ids {
        let mut journal = site.store.open(lock, id)?;
        let how = undo(site, &mut journal, force, stop);
        entries.push(journal.entry().clone());
        if how != SessionOutcome::Complete {
            worst = how;
        }
        if how == SessionOutcome::Stopped {
            break;
        }
    }
    Ok((entries, worst))
}

/// The applies to undo, last first: those in effect from `to` on, or the last one in effect.
fn targets(site: &Site, to: Option<u64>) -> Result<Vec<u64>> {
    let mut ids = site.store.ids()?;
    ids.reverse();
    let mut targets = Vec::new();
    if let Some(to) = to
        && !ids.contains(&to)
    {
        bail!("there is no apply number {to}: `whylate history` shows those that are");
    }
    for id in ids {
        if to.is_some_and(|to| id < to) {
            break;
        }
        if site.store.load(id)?.is_in_effect() {
            targets.push(id);
            if to.is_none() {
                break;
            }
        }
    }
    Ok(targets)
}

/// The same of one that nobody confirmed in time; none where somebody did.
fn unconfirmed(site: &Site, id: u64) -> Result<Vec<u64>> {
    let entry = site.store.load(id)?;
    let boot = boot_id(&whylate_tuning::System::tree(&site.system));
    match due(&entry, Timestamp::now(), boot.as_deref()) {
        RevertDue::Now => targets(site, Some(id)),
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
