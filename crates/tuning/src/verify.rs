//! Whether a machine still is as it was made: every target against what the journals show it was given, and what may have
//! changed it where that can be known.

mod again;
mod findings;
mod parameters;
mod suspects;

pub use findings::{Drift, Uncovered, Verification};

use crate::balancer;
use crate::journal::{JournalEntry, JournalError, PlannedAction, SessionKind, StepProgress, StoredState};
use crate::run::boot_id;
use crate::store::JournalStore;
use crate::{Status, System, Target, TargetState};
use std::collections::BTreeMap;
use whylate_host::FsRoot;
use whylate_profiles::Skipped;

/// What one target is to be, by the last that set it.
struct RevertDue<'a> {
    id: u64,
    settings: &'a [String],
    before: Option<&'a StoredState>,
    made: &'a StoredState,
}

/// Compares a machine with the journals of all applies that are in effect.
///
/// # Errors
/// If the directory of the journals cannot be read.
pub fn verify(store: &JournalStore, system: &dyn System) -> Result<Verification, JournalError> {
    let journals = store.readable()?;
    let entries: Vec<JournalEntry> =
        journals.entries.into_iter().filter(JournalEntry::is_in_effect).collect();
    let tree = system.tree();
    let boot = boot_id(&tree);
    let mut verified =
        Verification { applies: entries.iter().map(|entry| entry.id).collect(), ..Verification::default() };
    for (id, error) in journals.unreadable {
        verified.unknown.push(Skipped { what: format!("apply {id}"), why: error.to_string() });
    }
    let (targets, order) = due(&entries, boot.as_deref());
    for target in order {
        if let Some(due) = targets.get(&target.to_string()) {
            compare(&mut verified, store, system, &tree, target, due);
        }
    }
    verified.skipped = skipped(&entries, boot.as_deref(), &targets);
    for entry in &entries {
        half_way(&mut verified, entry);
        // One that was partly rolled back is not made again at boot.
        if entry.status() == Status::Applied {
            of_boot(&mut verified, entry, boot.as_deref());
            let later = entries.iter().filter(|other| other.id > entry.id).collect::<Vec<_>>();
            parameters::compare(&mut verified, entry, &later, boot.as_deref(), &tree);
        }
    }
    again::desired(&mut verified, &entries, system, &tree);
    Ok(verified)
}

/// An apply that did not get to its end.
fn half_way(verified: &mut Verification, entry: &JournalEntry) {
    let status = entry.status();
    if !matches!(status, Status::Stopped | Status::Failed | Status::Interrupted) {
        return;
    }
    let open = entry.remaining().len();
    verified.drifts.push(Drift {
        id: entry.id,
        what: format!("apply {}", entry.id),
        settings: Vec::new(),
        before: None,
        made: String::new(),
        now: format!("{}: {open} not made", status.words()),
        who: vec!["finish it with `whylate apply --resume`, or undo it with `whylate rollback`".to_owned()],
    });
}

/// What each target is to be, by its name; and the targets, in the order in which they were made.
fn due<'a>(
    entries: &'a [JournalEntry],
    boot: Option<&str>,
) -> (BTreeMap<String, RevertDue<'a>>, Vec<&'a Target>) {
    let (mut targets, mut order) = (BTreeMap::new(), Vec::new());
    for entry in entries {
        for session in &entry.sessions {
            for taken in &session.steps {
                let target = &taken.planned.target;
                let made = matches!(taken.progress, StepProgress::Done | StepProgress::Already);
                // What a command made it makes anew at its own time, as the boot loader's menu with each kernel.
                let PlannedAction::Set(state) = &taken.planned.then else { continue };
                if !made || taken.is_settled() || (target.is_of_boot() && !session.is_of(boot)) {
                    continue;
                }
                let due = RevertDue {
                    id: entry.id,
                    settings: &taken.planned.settings,
                    before: taken.before.as_ref(),
                    made: state,
                };
                if targets.insert(target.to_string(), due).is_none() {
                    order.push(target);
                }
            }
        }
    }
    (targets, order)
}

/// The optional targets that were refused in this boot, and that no later session has set.
fn skipped(
    entries: &[JournalEntry],
    boot: Option<&str>,
    set: &BTreeMap<String, RevertDue<'_>>,
) -> Vec<Skipped> {
    let sessions = entries.iter().flat_map(|entry| &entry.sessions).filter(|session| session.is_of(boot));
    let refused = sessions
        .flat_map(|session| &session.steps)
        .filter(|taken| taken.progress == StepProgress::Skipped)
        .map(|taken| (taken.planned.target.to_string(), taken.why.clone().unwrap_or_default()));
    // Of one that was refused again the last reason counts.
    let refused: BTreeMap<String, String> = refused.filter(|(what, _)| !set.contains_key(what)).collect();
    refused.into_iter().map(|(what, why)| Skipped { what, why }).collect()
}

fn compare(
    verified: &mut Verification,
    store: &JournalStore,
    system: &dyn System,
    tree: &FsRoot,
    target: &Target,
    due: &RevertDue<'_>,
) {
    let made = match store.state(due.id, due.made) {
        Ok(made) => made,
        Err(error) => {
            let (what, why) = (target.to_string(), error.to_string());
            return verified.unknown.push(Skipped { what, why });
        }
    };
    match system.read(target) {
        Ok(now) if now == made || balancer::moved(target, &made, &now, tree) => verified.as_made += 1,
        Ok(now) => {
            let before = due.before.map(|kept| store.state(due.id, kept));
            let before = before.and_then(Result::ok);
            let put_back = before.as_ref() == Some(&now);
            let mut who = suspects::of(target, &now, system, tree);
            if put_back && who.is_empty() {
                who.push(
                    "it has its state from before the apply: it was restored by hand, or by the program that owns it".to_owned(),
                );
            }
            verified.drifts.push(Drift {
                id: due.id,
                what: target.to_string(),
                settings: due.settings.to_vec(),
                before: before.map(|state| state.to_string()),
                made: made.to_string(),
                now: shown(&made, &now),
                who,
            });
        }
        Err(error)
            if error.gone && matches!(target, Target::ThreadPolicy { .. } | Target::ThreadCpus { .. }) =>
        {
            verified.ended += 1;
        }
        Err(error) => verified.unknown.push(Skipped { what: target.to_string(), why: error.why }),
    }
}

/// Two files of one length differ in what one does not see.
fn shown(made: &TargetState, now: &TargetState) -> String {
    match made.to_string() == now.to_string() {
        true => format!("{now}, with different content"),
        false => now.to_string(),
    }
}

/// Whether the runtime settings of an apply were made again in this boot.
fn of_boot(verified: &mut Verification, entry: &JournalEntry, boot: Option<&str>) {
    let mut sessions = entry.sessions.iter().filter(|session| session.kind != SessionKind::Rollback);
    let runtime = |target: &Target| target.is_of_boot();
    let has_runtime =
        sessions.clone().flat_map(|session| &session.steps).any(|taken| runtime(&taken.planned.target));
    if has_runtime && !sessions.any(|session| session.is_of(boot)) {
        verified.drifts.push(Drift {
            id: entry.id,
            what: "runtime settings".to_owned(),
            settings: Vec::new(),
            before: None,
            made: "set".to_owned(),
            now: "not set in this boot".to_owned(),
            who: vec![
                "the machine was rebooted, and `whylate apply --boot` did not run: see `systemctl status \
                 whylate-tuning.service`"
                    .to_owned(),
            ],
        });
    }
}
