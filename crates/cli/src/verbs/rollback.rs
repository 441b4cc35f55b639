//! `whylate rollback`

use super::revert::READY;
use super::tuning::Site;
use crate::args::RollbackArgs;
use crate::exit_status::ExitStatus;
use crate::notify;
use crate::output::message;
use crate::report::Destination;
use crate::signals;
use anyhow::{Context, Result};
use std::sync::atomic::Ordering;
use std::time::Duration;
use whylate_base::Ns;
use whylate_report::apply::Applies;
use whylate_sys::Clock;
use whylate_tuning::{
    ClockReading, JournalEntry, JournalError, RevertDue, RollbackResult, RollbackTargets, RolledBack,
    SessionOutcome, StoreLock, System, boot_id, due, rollback_targets,
};

/// What to do where the journal of the last apply cannot be read.
const SKIPPING: &str =
    "nothing was changed; `whylate rollback --to N` undoes the apply N and all later ones that can be read";
/// How often a process that waits looks whether the apply was confirmed.
const PACE: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &RollbackArgs) -> Result<ExitStatus> {
    let destination = Destination::of::<Applies<'_>>(&args.output, &[])?;
    let site = Site::open(&args.place)?;
    if let (Some(wait), Some(id)) = (args.after, args.unconfirmed)
        && !still_due(&site, id, wait)?
    {
        return Ok(ExitStatus::Done);
    }
    let lock = match args.unconfirmed {
        // An apply may still run when the time comes: then it is undone right afterwards.
        Some(_) => site.store.wait_for_lock("whylate rollback")?,
        None => site.store.lock("whylate rollback")?,
    };
    let targets = match args.unconfirmed {
        Some(id) => unconfirmed(&site, id)?,
        None => rollback_targets(&site.store, args.to).context(SKIPPING)?,
    };
    site.report_unreadable(&targets.unreadable);
    let targets = targets.ids;
    if targets.is_empty() {
        message!("nothing to roll back: see `whylate history`");
        destination.write(&Applies(&[]))?;
        return Ok(ExitStatus::Done);
    }
    let stop = signals::stop_flags()?;
    let asked = || stop.asked.load(Ordering::Acquire);
    let undone = undo_all(&site, &lock, &targets, args.force, &asked)?;
    destination.write(&Applies(&undone.entries))?;
    Ok(match undone.outcome {
        SessionOutcome::Complete => ExitStatus::Done,
        SessionOutcome::Stopped => ExitStatus::Failed,
        SessionOutcome::Failed if undone.entries.iter().any(has_failed) => ExitStatus::Failed,
        SessionOutcome::Failed => ExitStatus::Found,
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
        message!("whylate: cannot journal the rollback: {error}");
    }
    Ok(undone)
}

/// The applies to undo where one was not confirmed in time; none where it was.
fn unconfirmed(site: &Site, id: u64) -> Result<RollbackTargets> {
    let entry = site.store.load(id)?;
    let boot = boot_id(&site.system.tree());
    match due(&entry, &ClockReading::now(), boot.as_deref()) {
        RevertDue::Now => Ok(rollback_targets(&site.store, Some(id))?),
        RevertDue::Settled | RevertDue::At(_) => Ok(RollbackTargets::default()),
    }
}

/// Waits; false as soon as there is nothing to wait for any more. Notifies the apply when it begins to wait.
fn still_due(site: &Site, id: u64, wait: Ns) -> Result<bool> {
    let now = || whylate_sys::now(Clock::Boottime);
    let end = now() + wait;
    site.store.load(id)?;
    if site.system.is_here() {
        // What brings a machine back must not be the first to go where memory is short.
        let _ = std::fs::write("/proc/self/oom_score_adj", "-1000");
    }
    notify::ready(&format!("waiting to undo apply {id}")).context("cannot notify systemd (NOTIFY_SOCKET)")?;
    message!("{READY}");
    loop {
        // Of one that is armed and has not begun yet nothing is in effect.
        let waits = |entry: &JournalEntry| {
            entry.confirmed.is_none() && (entry.sessions.is_empty() || entry.is_unconfirmed())
        };
        match site.store.load(id) {
            Ok(entry) if !waits(&entry) => return Ok(false),
            // Its system was removed, and all that could be undone with it.
            Err(JournalError::NoSuch { .. }) => return Ok(false),
            // A disk that fails for a while is no reason to give up.
            Ok(_) | Err(_) => {}
        }
        match end - now() {
            Ns(..=0) => return Ok(true),
            Ns(left) => std::thread::sleep(Duration::from_nanos(left.unsigned_abs()).min(PACE)),
        }
    }
}

fn has_failed(entry: &JournalEntry) -> bool {
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    steps.into_iter().any(|taken| matches!(taken.back, Some((RollbackResult::Failed, _))))
}
