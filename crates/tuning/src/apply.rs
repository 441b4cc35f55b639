//! Makes steps, each written down before it is made.

use crate::journal::{Journal, JournalError};
use crate::{
    ApplyStep, JournalRecord, PlannedAction, PlannedStep, SessionKind, SessionOutcome, System, TargetError,
    TargetState, Timestamp,
};
use whylate_host::FsRoot;

/// What a run of the engine works on, and where it reports to.
pub struct RunContext<'a> {
    /// The machine.
    pub system: &'a dyn System,
    /// The clock.
    pub now: &'a dyn Fn() -> Timestamp,
    /// Asked between two steps: true stops there.
    pub stop: &'a dyn Fn() -> bool,
    /// Told of each step before it is made or undone.
    pub notify: &'a dyn Fn(&PlannedStep),
}

/// This boot of a machine (random(4)); `None`: not known.
pub fn boot_id(tree: &FsRoot) -> Option<String> {
    tree.value::<String>("/proc/sys/kernel/random/boot_id").value.ok()
}

/// Makes steps as a session of a journal. How it ended is in the journal's entry as well.
///
/// # Errors
/// If the journal cannot be written any more. Nothing was done then that it does not have.
pub fn apply(
    journal: &mut Journal,
    kind: SessionKind,
    steps: &[ApplyStep],
    run: &RunContext<'_>,
) -> Result<SessionOutcome, JournalError> {
    let planned = steps.iter().map(|step| journal.planned(step)).collect::<Result<Vec<_>, _>>()?;
    session(journal, kind, planned, run)
}

/// Makes the steps that the last session left, the one it failed at first.
///
/// # Errors
/// As [`apply`].
pub fn resume(journal: &mut Journal, run: &RunContext<'_>) -> Result<SessionOutcome, JournalError> {
    let remaining = journal.entry().remaining();
    session(journal, SessionKind::Resume, remaining, run)
}

fn session(
    journal: &mut Journal,
    kind: SessionKind,
    steps: Vec<PlannedStep>,
    run: &RunContext<'_>,
) -> Result<SessionOutcome, JournalError> {
    let boot_id = boot_id(&run.system.tree());
    journal.begin(kind, boot_id, (run.now)(), steps.clone())?;
    let mut outcome = SessionOutcome::Complete;
    for (number, planned) in steps.iter().enumerate() {
        if (run.stop)() {
            outcome = SessionOutcome::Stopped;
            break;
        }
        (run.notify)(planned);
        if !step(journal, number, planned, kind, run.system)? {
            outcome = SessionOutcome::Failed;
            // At boot no user can decide: everything that can be set is set.
            if kind != SessionKind::Boot {
                break;
            }
        }
    }
    journal.append(JournalRecord::End { outcome, at: (run.now)() }, true)?;
    Ok(outcome)
}

/// Makes one step; false if it failed.
fn step(
    journal: &mut Journal,
    number: usize,
    planned: &PlannedStep,
    kind: SessionKind,
    system: &dyn System,
) -> Result<bool, JournalError> {
    let before = match system.read(&planned.target) {
        Ok(state) => state,
        Err(error) => return refused(journal, number, &error),
    };
    let then = match &planned.then {
        PlannedAction::Set(kept) => Some(journal.state(kept)?),
        PlannedAction::Make(_) => None,
    };
    // Of a step that was cut off the command may be missing, even where the target is as it should be.
    let cut_off = kind == SessionKind::Resume && planned.notify.is_some();
    if then.as_ref() == Some(&before) && !cut_off {
        journal.append(JournalRecord::Already { step: number }, false)?;
        return Ok(true);
    }
    let kept = journal.keep(&before)?;
    journal.append(JournalRecord::Begin { step: number, before: kept }, true)?;
    match make(planned, then.as_ref(), system) {
        Ok(after) => {
            let after = after.map(|state| journal.keep(&state)).transpose()?;
            // Should this be lost, the step counts as begun, and is undone all the same.
            journal.append(JournalRecord::Done { step: number, after }, false)?;
            Ok(true)
        }
        Err(error) => refused(journal, number, &error),
    }
}

/// Sets the target; of one that a command made, how it is now.
fn make(
    planned: &PlannedStep,
    then: Option<&TargetState>,
    system: &dyn System,
) -> Result<Option<TargetState>, TargetError> {
    let mut after = None;
    match (&planned.then, then) {
        (PlannedAction::Make(command), _) => {
            system.run(command)?;
            after = Some(system.read(&planned.target)?);
        }
        (PlannedAction::Set(_), Some(state)) => system.write(&planned.target, state)?,
        (PlannedAction::Set(_), None) => {}
    }
    notified(planned, system)?;
    Ok(after)
}

/// Runs what is to be run after the target was changed.
pub(crate) fn notified(planned: &PlannedStep, system: &dyn System) -> Result<(), TargetError> {
    match planned.notify.as_ref().map(|command| system.run(command)) {
        // No program has to be notified.
        Some(Err(error)) if error.gone => Ok(()),
        Some(result) => result,
        None => Ok(()),
    }
}

fn refused(journal: &mut Journal, number: usize, error: &TargetError) -> Result<bool, JournalError> {
    match error.gone {
        true => journal.append(JournalRecord::Gone { step: number, why: error.to_string() }, false)?,
        false => journal.append(JournalRecord::Failed { step: number, why: error.to_string() }, true)?,
    }
    Ok(error.gone)
}
