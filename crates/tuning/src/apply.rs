//! Makes steps, each written down before it is made.

use crate::journal::{Journal, JournalError};
use crate::rollback::undo_settings;
use crate::run::{RunContext, boot_id, notified};
use crate::{
    ApplyStep, JournalRecord, PlannedAction, PlannedStep, SessionKind, SessionOutcome, System, TargetError,
    TargetState,
};

/// What happens where a required step is refused or fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The session ends there. What was made stays, to be resumed or rolled back.
    #[default]
    Stop,
    /// The steps of other settings are made. The session counts as failed all the same.
    Continue,
}

/// Makes steps as a session of a journal. How it ended is in the journal's entry as well.
///
/// # Errors
/// If the journal cannot be written any more. Nothing was done then that it does not have.
pub fn apply(
    journal: &mut Journal,
    kind: SessionKind,
    steps: &[ApplyStep],
    policy: FailurePolicy,
    run: &RunContext<'_>,
) -> Result<SessionOutcome, JournalError> {
    let planned = steps.iter().map(|step| journal.planned(step)).collect::<Result<Vec<_>, _>>()?;
    session(journal, kind, planned, policy, run)
}

/// Makes the steps that the last session left, the one it failed at first.
///
/// # Errors
/// As [`apply`].
pub fn resume(
    journal: &mut Journal,
    policy: FailurePolicy,
    run: &RunContext<'_>,
) -> Result<SessionOutcome, JournalError> {
    let remaining = journal.entry().remaining();
    session(journal, SessionKind::Resume, remaining, policy, run)
}

fn session(
    journal: &mut Journal,
    kind: SessionKind,
    steps: Vec<PlannedStep>,
    policy: FailurePolicy,
    run: &RunContext<'_>,
) -> Result<SessionOutcome, JournalError> {
    let boot_id = boot_id(&run.system.tree());
    journal.begin(kind, boot_id, (run.now)(), steps.clone())?;
    let mut outcome = SessionOutcome::Complete;
    // Of settings that were refused the other steps are not made either.
    let mut given_up: Vec<&PlannedStep> = Vec::new();
    for (number, planned) in steps.iter().enumerate() {
        if given_up.iter().any(|refused| is_of_one_unit(refused, planned)) {
            continue;
        }
        if (run.stop)() {
            outcome = SessionOutcome::Stopped;
            break;
        }
        (run.notify)(planned);
        let Some(error) = step(journal, number, planned, kind, run.system)? else { continue };
        // At boot no user can decide: everything that can be set is set.
        let goes_on = policy == FailurePolicy::Continue || kind == SessionKind::Boot;
        if !skip(journal, number, &steps, &error, goes_on, run.system)? {
            outcome = SessionOutcome::Failed;
            if !goes_on {
                break;
            }
        }
        given_up.push(planned);
    }
    journal.append(JournalRecord::End { outcome, at: (run.now)() }, true)?;
    Ok(outcome)
}

/// Whether two steps are made together or not at all: runtime steps of the same settings, or files of the same settings.
fn is_of_one_unit(a: &PlannedStep, b: &PlannedStep) -> bool {
    a.settings == b.settings && a.target.is_of_boot() == b.target.is_of_boot()
}

/// Records a refused step: as skipped where its settings are optional and nothing of them is in effect, else as failed.
/// True if it was skipped.
fn skip(
    journal: &mut Journal,
    refused: usize,
    steps: &[PlannedStep],
    error: &TargetError,
    goes_on: bool,
    system: &dyn System,
) -> Result<bool, JournalError> {
    let Some(planned) = steps.get(refused) else { return Ok(false) };
    let unit = || steps.iter().enumerate().filter(|(_, other)| is_of_one_unit(other, planned));
    // A file is never skipped: what makes settings last, or starts the next boot, is written or the apply fails.
    let is_optional = planned.target.is_of_boot() && unit().all(|(_, own)| own.optional);
    let kept = match is_optional || goes_on {
        true => undo_settings(journal, &planned.settings, system)?,
        false => None,
    };
    let why = match kept {
        None if is_optional => {
            let others = unit().map(|(other, _)| other).filter(|&other| other != refused).collect();
            let record = JournalRecord::Skipped { step: refused, others, why: error.to_string() };
            journal.append(record, true)?;
            return Ok(true);
        }
        None => error.to_string(),
        Some(kept) => format!("{error}; it could not be undone: {kept}"),
    };
    journal.append(JournalRecord::Failed { step: refused, why }, true)?;
    Ok(false)
}

/// Makes one step; why it was refused, where it was.
fn step(
    journal: &mut Journal,
    number: usize,
    planned: &PlannedStep,
    kind: SessionKind,
    system: &dyn System,
) -> Result<Option<TargetError>, JournalError> {
    let before = match system.read(&planned.target) {
        Ok(state) => state,
        Err(error) => return refused(journal, number, error),
    };
    let then = match &planned.then {
        PlannedAction::Set(kept) => Some(journal.state(kept)?),
        PlannedAction::Make(_) => None,
    };
    // Of a step that was cut off the command may be missing, even where the target is as it should be.
    let cut_off = kind == SessionKind::Resume && planned.notify.is_some();
    if then.as_ref() == Some(&before) && !cut_off {
        journal.append(JournalRecord::Already { step: number }, false)?;
        return Ok(None);
    }
    let kept = journal.keep(&before)?;
    journal.append(JournalRecord::Begin { step: number, before: kept }, true)?;
    match make(planned, then.as_ref(), system) {
        Ok(after) => {
            let after = after.map(|state| journal.keep(&state)).transpose()?;
            // Should this be lost, the step counts as begun, and is undone all the same.
            journal.append(JournalRecord::Done { step: number, after }, false)?;
            Ok(None)
        }
        Err(error) => refused(journal, number, error),
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

/// A refusal; none where there is nothing to set any more.
fn refused(
    journal: &mut Journal,
    number: usize,
    error: TargetError,
) -> Result<Option<TargetError>, JournalError> {
    if !error.gone {
        return Ok(Some(error));
    }
    journal.append(JournalRecord::Gone { step: number, why: error.to_string() }, false)?;
    Ok(None)
}
