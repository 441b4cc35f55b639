//! The wire types of schema `whylate.history/1`: what was applied when, and what became of it.

use crate::apply::json::{Outcome, Status, StepAction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_tuning::HistoryEntry;

/// What was applied when, as a document of schema [`SCHEMA`].
pub fn render(lines: &[HistoryEntry]) -> Value {
    crate::json::value(&Document::of(lines))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.history/1";

/// What was applied when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.history/1")]
pub struct Document {
    /// Always `whylate.history/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// Every apply, first to last.
    pub applies: Vec<Apply>,
}

/// One apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Apply {
    /// Its number.
    pub id: u64,
    /// The profile; null where not known.
    pub profile: Option<String>,
    /// How it is with it; null where its journal cannot be read.
    pub status: Option<Status>,
    /// Why its journal cannot be read; null where it can.
    pub unreadable: Option<String>,
    /// How many settings its plan changes.
    pub changes: u64,
    /// When it is undone by itself unless somebody confirms, in seconds since 1970-01-01 UTC; null: never.
    pub unconfirmed_until: Option<i64>,
    /// What was done, first to last.
    pub sessions: Vec<JournalSession>,
    /// What a rollback left as it is.
    pub left: Vec<Left>,
}

/// One run that changed something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JournalSession {
    /// What it did.
    pub action: StepAction,
    /// When it began, in seconds since 1970-01-01 UTC.
    pub at: i64,
    /// How it ended; null where it was cut off, or still runs.
    pub outcome: Option<Outcome>,
    /// How many steps it had; 0 of a rollback.
    pub steps: u64,
    /// How many of them are made.
    pub made: u64,
    /// What it failed at, and why; null where nothing failed.
    pub failed: Option<Left>,
}

/// Something that was not done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Left {
    /// What: a path, `policy of NAME (TID)`.
    pub what: String,
    /// Why.
    pub why: String,
}

impl Document {
    /// Of the history of a machine.
    pub fn of(lines: &[HistoryEntry]) -> Document {
        Document { schema: SCHEMA.to_owned(), applies: lines.iter().map(Apply::from).collect() }
    }
}

impl From<&HistoryEntry> for Apply {
    fn from(line: &HistoryEntry) -> Apply {
        let left = |(what, why): &(String, String)| Left { what: what.clone(), why: why.clone() };
        let sessions = line.sessions.iter().map(|part| JournalSession {
            action: part.kind.into(),
            at: part.at.0,
            outcome: part.outcome.map(Outcome::from),
            steps: part.steps.0 as u64,
            made: part.steps.1 as u64,
            failed: part.failed.as_ref().map(left),
        });
        Apply {
            id: line.id,
            profile: line.profile.clone(),
            status: line.status.as_ref().ok().map(|&status| status.into()),
            unreadable: line.status.as_ref().err().cloned(),
            changes: line.changes as u64,
            unconfirmed_until: line.unconfirmed.map(|until| until.0),
            sessions: sessions.collect(),
            left: line.left.iter().map(left).collect(),
        }
    }
}
