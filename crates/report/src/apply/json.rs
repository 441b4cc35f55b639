//! The wire types of schema `whylate.apply/1`: what an apply or a rollback did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_tuning::{
    JournalEntry, JournalSession, RollbackResult, SessionKind, SessionOutcome, StepProgress, StepRecord,
};

/// What was done in some applies as a document of schema [`SCHEMA`].
pub fn render(entries: &[JournalEntry]) -> Value {
    crate::json::value(&Document::of(entries))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.apply/1";

/// What was done to a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.apply/1")]
pub struct Document {
    /// Always `whylate.apply/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The applies that were worked on, in that order: one, or those that a rollback undid.
    pub applies: Vec<Apply>,
}

/// One apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Apply {
    /// Its number.
    pub id: u64,
    /// The profile; null where not known.
    pub profile: Option<String>,
    /// How it is with it now.
    pub status: Status,
    /// What was done last.
    pub action: StepAction,
    /// How that ended; null where it was cut off.
    pub outcome: Option<Outcome>,
    /// When it is undone by itself unless somebody confirms, in seconds since 1970-01-01 UTC; null: never.
    pub unconfirmed_until: Option<i64>,
    /// The steps: of an apply those of its last session, of a rollback all that were undone or left.
    pub steps: Vec<Step>,
}

/// How it is with an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
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

/// What a session did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepAction {
    /// `whylate apply`.
    Apply,
    /// `whylate apply --resume`.
    Resume,
    /// The runtime settings, at a later boot.
    Boot,
    /// `whylate rollback`.
    Rollback,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All was done.
    Complete,
    /// Somebody asked it to stop.
    Stopped,
    /// A step failed; of a rollback: something was left.
    Failed,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// What changed: a path, `policy of NAME (TID)`.
    pub what: String,
    /// The settings it is for.
    pub settings: Vec<String>,
    /// How it was; null where that was not looked at.
    pub before: Option<String>,
    /// How it was to be; null where a command makes it.
    pub then: Option<String>,
    /// The command that makes it; null where there is none.
    pub command: Option<Vec<String>>,
    /// How far it got.
    pub progress: Made,
    /// What a rollback did about it; null where none did.
    pub back: Option<RollbackReport>,
    /// Why it failed or was left; null where it was not.
    pub why: Option<String>,
}

/// How far a step got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Made {
    /// Not begun.
    Waiting,
    /// Begun, and perhaps made.
    Begun,
    /// Made.
    Done,
    /// It was so already.
    Already,
    /// Nothing is there to be changed.
    Gone,
    /// Refused.
    Failed,
}

/// What became of a step that was to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RollbackReport {
    /// It has its old state again.
    PutBack,
    /// It had it.
    WasBack,
    /// Its command made it anew, from files that have their old state again.
    Remade,
    /// It ended with the boot it was made in.
    Rebooted,
    /// The thread or control group ended.
    Gone,
    /// Somebody else changed it: left as it is.
    Changed,
    /// It could not be put back.
    Failed,
}

impl Document {
    /// Of the applies that were worked on.
    pub fn of(entries: &[JournalEntry]) -> Document {
        Document { schema: SCHEMA.to_owned(), applies: entries.iter().map(Apply::from).collect() }
    }
}

impl From<&JournalEntry> for Apply {
    fn from(entry: &JournalEntry) -> Apply {
        let last = entry.sessions.last();
        let steps: Vec<Step> = match last.map(|session| session.kind) {
            Some(SessionKind::Rollback) => {
                let taken = entry.sessions.iter().flat_map(|session| &session.steps);
                taken.filter(|taken| taken.back.is_some()).map(Step::from).collect()
            }
            _ => last.into_iter().flat_map(|session| &session.steps).map(Step::from).collect(),
        };
        Apply {
            id: entry.id,
            profile: entry.profile().map(str::to_owned),
            status: entry.status().into(),
            action: last.map_or(StepAction::Apply, |session| session.kind.into()),
            outcome: last.and_then(outcome),
            unconfirmed_until: entry.armed.filter(|_| entry.is_unconfirmed()).map(|until| until.0),
            steps,
        }
    }
}

fn outcome(session: &JournalSession) -> Option<Outcome> {
    session.end.map(|(how, _)| how.into())
}

impl From<&StepRecord> for Step {
    fn from(taken: &StepRecord) -> Step {
        let refused = match &taken.progress {
            StepProgress::Gone(why) | StepProgress::Failed(why) => Some(why.clone()),
            _ => None,
        };
        let (back, left) = match &taken.back {
            Some((back, why)) => (Some(RollbackReport::from(*back)), why.clone()),
            None => (None, None),
        };
        let command = taken.planned.then.command().map(<[String]>::to_vec);
        let then = if command.is_some() { None } else { taken.left_as().map(ToString::to_string) };
        Step {
            what: taken.planned.target.to_string(),
            settings: taken.planned.settings.clone(),
            before: taken.before.as_ref().map(ToString::to_string),
            then,
            command,
            progress: match taken.progress {
                StepProgress::Waiting => Made::Waiting,
                StepProgress::Begun => Made::Begun,
                StepProgress::Done => Made::Done,
                StepProgress::Already => Made::Already,
                StepProgress::Gone(_) => Made::Gone,
                StepProgress::Failed(_) => Made::Failed,
            },
            back,
            why: left.or(refused),
        }
    }
}

impl From<whylate_tuning::Status> for Status {
    fn from(status: whylate_tuning::Status) -> Status {
        match status {
            whylate_tuning::Status::Empty => Status::Empty,
            whylate_tuning::Status::Applied => Status::Applied,
            whylate_tuning::Status::Stopped => Status::Stopped,
            whylate_tuning::Status::Failed => Status::Failed,
            whylate_tuning::Status::Interrupted => Status::Interrupted,
            whylate_tuning::Status::RolledBack => Status::RolledBack,
            whylate_tuning::Status::PartlyBack => Status::PartlyBack,
        }
    }
}

impl From<SessionKind> for StepAction {
    fn from(kind: SessionKind) -> StepAction {
        match kind {
            SessionKind::Apply => StepAction::Apply,
            SessionKind::Resume => StepAction::Resume,
            SessionKind::Boot => StepAction::Boot,
            SessionKind::Rollback => StepAction::Rollback,
        }
    }
}

impl From<SessionOutcome> for Outcome {
    fn from(how: SessionOutcome) -> Outcome {
        match how {
            SessionOutcome::Complete => Outcome::Complete,
            SessionOutcome::Stopped => Outcome::Stopped,
            SessionOutcome::Failed => Outcome::Failed,
        }
    }
}

impl From<RollbackResult> for RollbackReport {
    fn from(back: RollbackResult) -> RollbackReport {
        match back {
            RollbackResult::PutBack => RollbackReport::PutBack,
            RollbackResult::WasBack => RollbackReport::WasBack,
            RollbackResult::Remade => RollbackReport::Remade,
            RollbackResult::Rebooted => RollbackReport::Rebooted,
            RollbackResult::Gone => RollbackReport::Gone,
            RollbackResult::Changed => RollbackReport::Changed,
            RollbackResult::Failed => RollbackReport::Failed,
        }
    }
}
