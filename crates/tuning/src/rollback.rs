//! Puts back what an apply changed, last step first: exactly, and only what is still as it was left.
//!
//! It can be cut off anywhere and begun again. It does not depend on its own records: a target that is as it was before
//! is done, and one that is in any state that this apply gave it is ours.

use crate::balancer;
use crate::journal::{Journal, JournalEntry, JournalError};
use crate::run::{RunContext, boot_id, notified};
use crate::{
    JournalRecord, PlannedAction, PlannedStep, RollbackResult, SessionKind, SessionOutcome, StepRecord,
    StoredState, System, Target, TargetState,
};

/// How a rollback ended.
#[derive(Debug)]
pub struct RollbackReport {
    /// How.
    pub outcome: SessionOutcome,
    /// Why it could not be written down; the machine is as it describes all the same.
    pub unrecorded: Option<JournalError>,
}

/// Undoes an apply. What became of each step is in the journal's entry.
///
/// A target that another program changed since is left unchanged, unless `force`.
pub fn rollback(journal: &mut Journal, force: bool, run: &RunContext<'_>) -> RollbackReport {
    let boot = boot_id(&run.system.tree());
    let mut unrecorded = journal.begin(SessionKind::Rollback, boot.clone(), (run.now)(), Vec::new()).err();
    if unrecorded.is_some() {
        let (kind, at, version) = (SessionKind::Rollback, (run.now)(), env!("CARGO_PKG_VERSION").to_owned());
        let session = JournalRecord::Session { kind, boot_id: boot.clone(), at, version, steps: Vec::new() };
        unrecorded = journal.append_or_note(session, true).or(unrecorded);
    }
    let mut outcome = SessionOutcome::Complete;
    let mut remake = Vec::new();
    for (session, step) in open(journal.entry()) {
        if (run.stop)() {
            outcome = SessionOutcome::Stopped;
            break;
        }
        let Some(taken) = find(journal.entry(), session, step).cloned() else { continue };
        (run.notify)(&taken.planned);
        let of_boot = taken.planned.target.is_of_boot();
        let same_boot =
            journal.entry().sessions.get(session).is_some_and(|session| session.is_of(boot.as_deref()));
        let undone = match of_boot && !same_boot {
            true => PutBack::of(RollbackResult::Rebooted),
            false => put_back(journal, &taken, force, run.system),
        };
        match undone {
            PutBack::Remake(command) => remake.push((session, step, taken.planned, command)),
            PutBack::Is(back, why) => {
                if !back.is_settled() {
                    outcome = SessionOutcome::Failed;
                }
                let record = JournalRecord::Back { session, step, outcome: back, why };
                unrecorded = journal.append_or_note(record, false).or(unrecorded);
            }
        }
    }
    if outcome != SessionOutcome::Stopped {
        // Now that what they are made of is as it was.
        for (session, step, planned, command) in remake {
            (run.notify)(&planned);
            let (back, why) = match run.system.run(&command) {
                Ok(()) => (
                    RollbackResult::Remade,
                    Some("it had been regenerated since, and was regenerated again".to_owned()),
                ),
                Err(error) => (RollbackResult::Failed, Some(error.to_string())),
            };
            if !back.is_settled() {
                outcome = SessionOutcome::Failed;
            }
            let record = JournalRecord::Back { session, step, outcome: back, why };
            unrecorded = journal.append_or_note(record, false).or(unrecorded);
        }
    }
    unrecorded = journal.append_or_note(JournalRecord::End { outcome, at: (run.now)() }, true).or(unrecorded);
    RollbackReport { outcome, unrecorded }
}

/// Undoes what this boot's sessions have made of some settings, last step first: one of its steps was refused. Gives why
/// something of it is still in effect; `None`: nothing is.
///
/// # Errors
/// If the journal cannot be written any more.
pub(crate) fn undo_settings(
    journal: &mut Journal,
    settings: &[String],
    system: &dyn System,
) -> Result<Option<String>, JournalError> {
    let boot = boot_id(&system.tree());
    for (session, step) in open(journal.entry()) {
        let Some(of) = journal.entry().sessions.get(session) else { continue };
        let Some(taken) = of.steps.get(step).filter(|_| of.is_of(boot.as_deref())).cloned() else { continue };
        if taken.planned.settings != settings || !taken.planned.target.is_of_boot() {
            continue;
        }
        let (outcome, why) = match put_back(journal, &taken, false, system) {
            PutBack::Is(outcome, why) => (outcome, why),
            // No command makes a target of a boot.
            PutBack::Remake(_) => (RollbackResult::Failed, None),
        };
        journal.append(JournalRecord::Back { session, step, outcome, why: why.clone() }, false)?;
        if !outcome.is_settled() {
            return Ok(Some(why.unwrap_or_else(|| format!("{} is not restored", taken.planned.target))));
        }
    }
    Ok(None)
}

enum PutBack {
    Is(RollbackResult, Option<String>),
    /// To be regenerated, when all else is done.
    Remake(Vec<String>),
}

impl PutBack {
    fn of(back: RollbackResult) -> PutBack {
        PutBack::Is(back, None)
    }

    fn why(back: RollbackResult, why: impl ToString) -> PutBack {
        PutBack::Is(back, Some(why.to_string()))
    }
}

/// The steps that may have changed something and are not undone, last first: session and number.
fn open(entry: &JournalEntry) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    for (session, of) in entry.sessions.iter().enumerate() {
        for (step, taken) in of.steps.iter().enumerate() {
            if taken.was_begun() && !taken.is_settled() {
                open.push((session, step));
            }
        }
    }
    open.reverse();
    open
}

fn find(entry: &JournalEntry, session: usize, step: usize) -> Option<&StepRecord> {
    entry.sessions.get(session)?.steps.get(step)
}

fn put_back(journal: &Journal, taken: &StepRecord, force: bool, system: &dyn System) -> PutBack {
    let target = &taken.planned.target;
    let Some(before) = &taken.before else { return PutBack::of(RollbackResult::WasBack) };
    let old = match journal.state(before) {
        Ok(old) => old,
        Err(error) => return PutBack::why(RollbackResult::Failed, error),
    };
    if let Err(error) = system.tidy(target) {
        return PutBack::why(RollbackResult::Failed, error);
    }
    let now = match system.read(target) {
        Ok(now) => now,
        Err(error) if error.gone => return PutBack::why(RollbackResult::Gone, error.why),
        Err(error) => return PutBack::why(RollbackResult::Failed, error),
    };
    if now == old {
        return finish(RollbackResult::WasBack, &taken.planned, system);
    }
    if now == TargetState::Absent && matches!(target, Target::Tunable { .. }) {
        return absent(journal.entry(), target);
    }
    let done = taken.progress == crate::StepProgress::Done;
    if done && !force && !is_ours(journal, taken, &now, system) {
        return match &taken.planned.then {
            PlannedAction::Make(command) => PutBack::Remake(command.clone()),
            PlannedAction::Set(_) => {
                let left = taken.left_as().map(|kept| shown(journal, kept)).unwrap_or_default();
                let why = format!("another program changed it: it was set to {left}, and is {now}");
                PutBack::why(RollbackResult::Changed, why)
            }
        };
    }
    match system.write(target, &old) {
        Ok(()) => finish(RollbackResult::PutBack, &taken.planned, system),
        Err(error) if error.gone => PutBack::why(RollbackResult::Gone, error.why),
        Err(error) => PutBack::why(RollbackResult::Failed, error),
    }
}

/// A program that must know that a target has its old state is notified, even where it had it: the run before this one
/// may not have come to that.
fn finish(back: RollbackResult, planned: &PlannedStep, system: &dyn System) -> PutBack {
    match notified(planned, system) {
        Ok(()) => PutBack::of(back),
        Err(error) => PutBack::why(back, format!("but then: {error}")),
    }
}

/// Whether a target is in a state that this apply gave it, at one step or another, or had found it in; or irqbalance has
/// moved it within that.
fn is_ours(journal: &Journal, taken: &StepRecord, now: &TargetState, system: &dyn System) -> bool {
    let target = &taken.planned.target;
    let left = taken.left_as().and_then(|kept| journal.state(kept).ok());
    if left.is_some_and(|left| balancer::moved(target, &left, now, &system.tree())) {
        return true;
    }
    let steps = journal.entry().sessions.iter().flat_map(|session| &session.steps);
    let mut states = steps
        .filter(|taken| taken.was_begun() && taken.planned.target == *target)
        .flat_map(|taken| [taken.before.as_ref(), taken.left_as()])
        .flatten();
    states.any(|kept| journal.state(kept).is_ok_and(|state| state == *now))
}

/// A tunable that is not there any more: with its control group, which is undone, or with its device.
fn absent(entry: &JournalEntry, target: &Target) -> PutBack {
    let Target::Tunable { path } = target else { return PutBack::of(RollbackResult::WasBack) };
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    let in_group = steps.filter(|taken| taken.was_begun()).any(|taken| match &taken.planned.target {
        Target::Group { path: group } => {
            path.strip_prefix(group.as_str()).is_some_and(|rest| rest.starts_with('/'))
        }
        _ => false,
    });
    match in_group {
        true => PutBack::why(RollbackResult::Gone, "its control group was removed"),
        false => {
            let why = "the file does not exist now, as of an offline CPU; if it comes back, roll back again";
            PutBack::why(RollbackResult::Failed, why)
        }
    }
}

fn shown(journal: &Journal, kept: &StoredState) -> String {
    journal.state(kept).map_or_else(|error| error.to_string(), |state| state.to_string())
}
