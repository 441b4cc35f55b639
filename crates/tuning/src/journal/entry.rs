//! What a journal has, read from the beginning: the same for one that is being written.

use super::{
    BootInstant, JournalRecord, PlannedAction, PlannedStep, RollbackResult, SessionKind, SessionOutcome,
    StoredState, Timestamp,
};
use crate::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One apply, with all that became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its number, from 1.
    pub id: u64,
    /// What was to be done; `None`: it was cut off before that was written.
    pub plan: Option<Plan>,
    /// What was done, first to last.
    pub sessions: Vec<JournalSession>,
    /// When it is undone by itself.
    pub armed: Option<Timestamp>,
    /// The same by a clock that no program sets; `None`: an earlier version wrote it.
    pub deadline: Option<BootInstant>,
    /// When the user confirmed it.
    pub confirmed: Option<Timestamp>,
}

/// One run that changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalSession {
    /// What it did.
    pub kind: SessionKind,
    /// In which boot.
    pub boot_id: Option<String>,
    /// When it began.
    pub at: Timestamp,
    /// Its steps, in order. None of a rollback: those are the other sessions'.
    pub steps: Vec<StepRecord>,
    /// How and when it ended; `None`: it was cut off, or still runs.
    pub end: Option<(SessionOutcome, Timestamp)>,
}

/// A step, and how far it got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// What was to be done.
    pub planned: PlannedStep,
    /// How far it got.
    pub progress: StepProgress,
    /// Why it failed or was skipped, or why its target does not exist any more.
    pub why: Option<String>,
    /// How the target was; `None`: it was not touched.
    pub before: Option<StoredState>,
    /// How a command left the target.
    pub after: Option<StoredState>,
    /// What a rollback did about it, and why where it did not put it back.
    pub back: Option<(RollbackResult, Option<String>)>,
}

/// How far a step got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepProgress {
    /// Not begun.
    Waiting,
    /// Begun, and possibly done.
    Begun,
    /// Done.
    Done,
    /// The target was already set.
    Already,
    /// The target does not exist any more.
    Gone,
    /// Its setting is optional and was refused: nothing of it is in effect.
    Skipped,
    /// Failed.
    Failed,
}

/// The status of an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was interrupted before anything was done.
    Empty,
    /// All steps are done.
    Applied,
    /// It was asked to stop.
    Stopped,
    /// A step failed.
    Failed,
    /// It was interrupted, or still runs.
    Interrupted,
    /// All of it was undone.
    RolledBack,
    /// A rollback was interrupted, or left something.
    PartlyBack,
}

impl Status {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Status::Empty => "nothing was changed",
            Status::Applied => "applied",
            Status::Stopped => "stopped",
            Status::Failed => "failed",
            Status::Interrupted => "interrupted",
            Status::RolledBack => "rolled back",
            Status::PartlyBack => "partly rolled back",
        }
    }
}

impl JournalSession {
    /// Whether its runtime settings are of this boot. Where a boot cannot be determined, they are taken to be.
    pub fn is_of(&self, boot_id: Option<&str>) -> bool {
        self.boot_id.as_deref().is_none_or(|own| boot_id.is_none_or(|now| now == own))
    }
}

impl StepRecord {
    /// Whether the target may have been changed.
    pub fn was_begun(&self) -> bool {
        self.before.is_some()
            && matches!(self.progress, StepProgress::Begun | StepProgress::Done | StepProgress::Failed)
    }

    /// Whether a rollback has nothing left to do about it.
    pub(crate) fn is_settled(&self) -> bool {
        self.back.as_ref().is_some_and(|(back, _)| back.is_settled())
    }

    /// How the target was to be afterwards; `None`: a command was interrupted, and the state is unknown.
    pub fn left_as(&self) -> Option<&StoredState> {
        self.after.as_ref().or(match &self.planned.then {
            PlannedAction::Set(state) => Some(state),
            PlannedAction::Make(_) => None,
        })
    }
}

impl JournalEntry {
    /// How it is with it. What became of it at a later boot is that session's matter.
    pub fn status(&self) -> Status {
        let last = self.sessions.iter().rev().find(|session| session.kind != SessionKind::Boot);
        let Some(last) = last else { return Status::Empty };
        let outcome = last.end.map(|(outcome, _)| outcome);
        match (last.kind, outcome) {
            (SessionKind::Rollback, Some(SessionOutcome::Complete)) => Status::RolledBack,
            (SessionKind::Rollback, _) => Status::PartlyBack,
            (_, Some(SessionOutcome::Complete)) => Status::Applied,
            (_, Some(SessionOutcome::Stopped)) => Status::Stopped,
            (_, Some(SessionOutcome::Failed)) => Status::Failed,
            (_, None) => Status::Interrupted,
        }
    }

    /// True where there may be something to undo.
    pub fn is_in_effect(&self) -> bool {
        !matches!(self.status(), Status::Empty | Status::RolledBack)
    }

    /// True if it is undone automatically unless the user confirms.
    pub fn is_unconfirmed(&self) -> bool {
        self.armed.is_some() && self.confirmed.is_none() && self.is_in_effect()
    }

    /// The profile it was made of.
    pub fn profile(&self) -> Option<&str> {
        self.plan.as_ref().map(|plan| plan.desired.profile.as_str())
    }

    /// The steps that the last apply or resume did not make or has undone, and the one it was at.
    pub fn remaining(&self) -> Vec<PlannedStep> {
        let last = self
            .sessions
            .iter()
            .rev()
            .find(|session| matches!(session.kind, SessionKind::Apply | SessionKind::Resume));
        let steps = last.into_iter().flat_map(|session| &session.steps);
        let open = |step: &&StepRecord| {
            let undone = step.progress == StepProgress::Done && step.is_settled();
            undone
                || matches!(step.progress, StepProgress::Waiting | StepProgress::Begun | StepProgress::Failed)
        };
        steps.filter(open).map(|step| step.planned.clone()).collect()
    }

    /// Takes in the next record.
    ///
    /// # Errors
    /// If it does not fit the ones before it.
    pub fn take(&mut self, record: JournalRecord) -> Result<(), String> {
        match record {
            JournalRecord::Session { kind, boot_id, at, version: _, steps } => {
                let steps = steps.into_iter().map(StepRecord::from).collect();
                self.sessions.push(JournalSession { kind, boot_id, at, steps, end: None });
            }
            JournalRecord::Begin { step, before } => {
                let step = self.step(step)?;
                step.before = Some(before);
                step.progress = StepProgress::Begun;
            }
            JournalRecord::Done { step, after } => {
                let step = self.step(step)?;
                step.after = after;
                step.progress = StepProgress::Done;
            }
            JournalRecord::Already { step } => self.step(step)?.progress = StepProgress::Already,
            JournalRecord::Gone { step, why } => self.ended(step, StepProgress::Gone, why)?,
            JournalRecord::Skipped { step, others, why } => {
                let refused = self.step(step)?.planned.target.to_string();
                self.ended(step, StepProgress::Skipped, why)?;
                for other in others {
                    self.ended(other, StepProgress::Skipped, format!("{refused} was refused"))?;
                }
            }
            JournalRecord::Failed { step, why } => self.ended(step, StepProgress::Failed, why)?,
            JournalRecord::End { outcome, at } => self.session()?.end = Some((outcome, at)),
            JournalRecord::Armed { until, deadline } => {
                self.armed = Some(until);
                self.deadline = deadline;
            }
            JournalRecord::Confirmed { at } => self.confirmed = Some(at),
            JournalRecord::Back { session, step, outcome, why } => {
                let of = self.sessions.get_mut(session).ok_or_else(|| format!("no session {session}"))?;
                let step = of.steps.get_mut(step).ok_or_else(|| format!("no step {step}"))?;
                step.back = Some((outcome, why));
            }
        }
        Ok(())
    }

    fn ended(&mut self, step: usize, progress: StepProgress, why: String) -> Result<(), String> {
        let step = self.step(step)?;
        step.progress = progress;
        step.why = Some(why);
        Ok(())
    }

    fn session(&mut self) -> Result<&mut JournalSession, String> {
        self.sessions.last_mut().ok_or_else(|| "no session was begun".to_owned())
    }

    fn step(&mut self, step: usize) -> Result<&mut StepRecord, String> {
        self.session()?.steps.get_mut(step).ok_or_else(|| format!("no step {step}"))
    }
}

impl From<PlannedStep> for StepRecord {
    fn from(planned: PlannedStep) -> StepRecord {
        StepRecord {
            planned,
            progress: StepProgress::Waiting,
            why: None,
            before: None,
            after: None,
            back: None,
        }
    }
}
