//! What an apply or a rollback did, as `--json` writes it.

use crate::journal::{JournalEntry, StepRecord};
use crate::{RollbackResult, SessionKind, SessionOutcome, Status, StepProgress, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApplyReport {
    /// Its number.
    pub id: u64,
    /// The profile; null: unknown.
    pub profile: Option<String>,
    /// Its status.
    #[serde(rename = "standing")]
    pub status: Status,
    /// The last action.
    pub action: SessionKind,
    /// How that ended; null: it was interrupted.
    pub outcome: Option<SessionOutcome>,
    /// When it is undone unless it is confirmed, in seconds since 1970-01-01 UTC; null: never.
    pub unconfirmed_until: Option<Timestamp>,
    /// The steps: of an apply those of its last session, of a rollback all that were undone or left.
    pub steps: Vec<StepReport>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepReport {
    /// The target: a path, `policy of NAME (TID)`.
    pub what: String,
    /// The settings it is for.
    pub settings: Vec<String>,
    /// The state before; null: it was not read.
    pub before: Option<String>,
    /// The planned state; null: a command makes it.
    pub then: Option<String>,
    /// The command that makes it; null: there is none.
    pub command: Option<Vec<String>>,
    /// Whether the apply goes on without it if it is refused.
    #[serde(default)]
    #[schemars(!default)]
    pub optional: bool,
    /// How far it got.
    pub progress: StepProgress,
    /// What a rollback did about it; null: nothing.
    pub back: Option<RollbackResult>,
    /// Why it failed, was skipped or was left; null: it was not.
    pub why: Option<String>,
}

impl From<&JournalEntry> for ApplyReport {
    fn from(entry: &JournalEntry) -> ApplyReport {
        let last = entry.sessions.last();
        let steps: Vec<StepReport> = match last.map(|session| session.kind) {
            Some(SessionKind::Rollback) => {
                let steps = entry.sessions.iter().flat_map(|session| &session.steps);
                steps.filter(|step| step.back.is_some()).map(StepReport::from).collect()
            }
            _ => last.into_iter().flat_map(|session| &session.steps).map(StepReport::from).collect(),
        };
        ApplyReport {
            id: entry.id,
            profile: entry.profile().map(str::to_owned),
            status: entry.status(),
            action: last.map_or(SessionKind::Apply, |session| session.kind),
            outcome: last.and_then(|session| session.end).map(|(outcome, _)| outcome),
            unconfirmed_until: entry.armed.filter(|_| entry.is_unconfirmed()),
            steps,
        }
    }
}

impl From<&StepRecord> for StepReport {
    fn from(step: &StepRecord) -> StepReport {
        let (back, left) = match &step.back {
            Some((back, why)) => (Some(*back), why.clone()),
            None => (None, None),
        };
        let command = step.planned.then.command().map(<[String]>::to_vec);
        let then = if command.is_some() { None } else { step.left_as().map(ToString::to_string) };
        StepReport {
            what: step.planned.target.to_string(),
            settings: step.planned.settings.clone(),
            before: step.before.as_ref().map(ToString::to_string),
            then,
            command,
            optional: step.planned.optional,
            progress: step.progress,
            back,
            why: left.or(step.why.clone()),
        }
    }
}
