//! What a journal says, read from the beginning: the same for one that is being written.

use super::{Back, How, Kind, Moment, Planned, Record, Stored, Then};
use crate::Plan;

/// One apply, with all that became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1.
    pub id: u64,
    /// What was to be done; `None`: it was cut off before that was written.
    pub plan: Option<Plan>,
    /// What was done, first to last.
    pub sessions: Vec<Session>,
    /// When it is undone by itself.
    pub armed: Option<Moment>,
    /// When somebody confirmed it.
    pub confirmed: Option<Moment>,
}

/// One run that changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// What it did.
    pub kind: Kind,
    /// In which boot.
    pub boot_id: Option<String>,
    /// When it began.
    pub at: Moment,
    /// Its steps, in order. None of a rollback: those are the other sessions'.
    pub steps: Vec<Taken>,
    /// How and when it ended; `None`: it was cut off, or still runs.
    pub end: Option<(How, Moment)>,
}

/// A step, and how far it got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// What was to be done.
    pub planned: Planned,
    /// How far it got.
    pub progress: Progress,
    /// How the cell was; `None`: it was not touched.
    pub before: Option<Stored>,
    /// How a command left the cell.
    pub after: Option<Stored>,
    /// What a rollback did about it, and why where it did not put it back.
    pub back: Option<(Back, Option<String>)>,
}

/// How far a step got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not begun.
    Waiting,
    /// Begun, and perhaps made.
    Begun,
    /// Made.
    Done,
    /// Not needed.
    Already,
    /// Nothing is there to be changed.
    Gone(String),
    /// Refused.
    Failed(String),
}

/// How it is with an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was cut off before anything was done.
    Empty,
    /// All of it was done.
    Applied,
    /// It was asked to stop.
    Stopped,
    /// A step failed.
    Failed,
    /// It was cut off, or still runs.
    Interrupted,
    /// All of it was undone.
    RolledBack,
    /// A rollback was cut off, or left something.
    PartlyBack,
}

impl Standing {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Standing::Empty => "nothing was done",
            Standing::Applied => "applied",
            Standing::Stopped => "stopped half way",
            Standing::Failed => "failed half way",
            Standing::Interrupted => "cut off half way",
            Standing::RolledBack => "rolled back",
            Standing::PartlyBack => "rolled back in part",
        }
    }
}

impl Session {
    /// Whether its runtime settings are of this boot. Where a boot cannot be told, they are taken to be.
    pub fn is_of(&self, boot_id: Option<&str>) -> bool {
        self.boot_id.as_deref().is_none_or(|own| boot_id.is_none_or(|now| now == own))
    }
}

impl Taken {
    /// Whether the cell may have been changed.
    pub fn was_begun(&self) -> bool {
        self.before.is_some()
            && matches!(self.progress, Progress::Begun | Progress::Done | Progress::Failed(_))
    }

    /// How the cell was to be afterwards; `None`: a command was cut off, and nobody knows.
    pub fn left_as(&self) -> Option<&Stored> {
        self.after.as_ref().or(match &self.planned.then {
            Then::Set(state) => Some(state),
            Then::Make(_) => None,
        })
    }
}

impl Entry {
    /// How it is with it. What became of it at a later boot is that session's matter.
    pub fn standing(&self) -> Standing {
        let last = self.sessions.iter().rev().find(|session| session.kind != Kind::Boot);
        let Some(last) = last else { return Standing::Empty };
        let how = last.end.map(|(how, _)| how);
        match (last.kind, how) {
            (Kind::Rollback, Some(How::Complete)) => Standing::RolledBack,
            (Kind::Rollback, _) => Standing::PartlyBack,
            (_, Some(How::Complete)) => Standing::Applied,
            (_, Some(How::Stopped)) => Standing::Stopped,
            (_, Some(How::Failed)) => Standing::Failed,
            (_, None) => Standing::Interrupted,
        }
    }

    /// True where there may be something to undo.
    pub fn is_in_effect(&self) -> bool {
        !matches!(self.standing(), Standing::Empty | Standing::RolledBack)
    }

    /// True where it is undone by itself unless somebody confirms.
    pub fn is_unconfirmed(&self) -> bool {
        self.armed.is_some() && self.confirmed.is_none() && self.is_in_effect()
    }

    /// The profile it was made of.
    pub fn profile(&self) -> Option<&str> {
        self.plan.as_ref().map(|plan| plan.wishes.profile.as_str())
    }

    /// The steps that the last apply or resume did not make, and the one it was at.
    pub fn remaining(&self) -> Vec<Planned> {
        let last =
            self.sessions.iter().rev().find(|session| matches!(session.kind, Kind::Apply | Kind::Resume));
        let steps = last.into_iter().flat_map(|session| &session.steps);
        let open = |step: &&Taken| {
            matches!(step.progress, Progress::Waiting | Progress::Begun | Progress::Failed(_))
        };
        steps.filter(open).map(|step| step.planned.clone()).collect()
    }

    /// Takes in the next record.
    ///
    /// # Errors
    /// If it does not fit the ones before it.
    pub fn take(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Session { kind, boot_id, at, version: _, steps } => {
                let steps = steps.into_iter().map(Taken::from).collect();
                self.sessions.push(Session { kind, boot_id, at, steps, end: None });
            }
            Record::Begin { step, before } => {
                let step = self.step(step)?;
                step.before = Some(before);
                step.progress = Progress::Begun;
            }
            Record::Done { step, after } => {
                let step = self.step(step)?;
                step.after = after;
                step.progress = Progress::Done;
            }
            Record::Already { step } => self.step(step)?.progress = Progress::Already,
            Record::Gone { step, why } => self.step(step)?.progress = Progress::Gone(why),
            Record::Failed { step, why } => self.step(step)?.progress = Progress::Failed(why),
            Record::End { how, at } => self.session()?.end = Some((how, at)),
            Record::Armed { until } => self.armed = Some(until),
            Record::Confirmed { at } => self.confirmed = Some(at),
            Record::Back { session, step, how, why } => {
                let of = self.sessions.get_mut(session).ok_or_else(|| format!("no session {session}"))?;
                let step = of.steps.get_mut(step).ok_or_else(|| format!("no step {step}"))?;
                step.back = Some((how, why));
            }
        }
        Ok(())
    }

    fn session(&mut self) -> Result<&mut Session, String> {
        self.sessions.last_mut().ok_or_else(|| "no session was begun".to_owned())
    }

    fn step(&mut self, step: usize) -> Result<&mut Taken, String> {
        self.session()?.steps.get_mut(step).ok_or_else(|| format!("no step {step}"))
    }
}

impl From<Planned> for Taken {
    fn from(planned: Planned) -> Taken {
        Taken { planned, progress: Progress::Waiting, before: None, after: None, back: None }
    }
}
