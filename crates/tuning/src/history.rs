//! What was applied when, and what became of it.

use crate::journal::{JournalEntry, JournalError};
use crate::{RollbackResult, SessionKind, SessionOutcome, Status, StepProgress, StepRecord, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_profiles::Skipped;

/// One apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntry {
    /// Its number.
    pub id: u64,
    /// The profile; null: unknown.
    pub profile: Option<String>,
    /// Its status; null: its journal cannot be read.
    #[serde(rename = "standing")]
    pub status: Option<Status>,
    /// Why its journal cannot be read; null: it can.
    pub unreadable: Option<String>,
    /// How many settings its plan changes.
    pub changes: u64,
    /// When it is undone unless it is confirmed, in seconds since 1970-01-01 UTC; null: never.
    pub unconfirmed_until: Option<Timestamp>,
    /// Its sessions, first to last.
    pub sessions: Vec<HistorySession>,
    /// What a rollback left unchanged, and why.
    pub left: Vec<Skipped>,
}

/// One run that changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistorySession {
    /// What it did.
    #[serde(rename = "action")]
    pub kind: SessionKind,
    /// When it began, in seconds since 1970-01-01 UTC.
    pub at: Timestamp,
    /// How it ended; null: it was interrupted, or still runs.
    pub outcome: Option<SessionOutcome>,
    /// How many steps it had; 0 of a rollback.
    pub steps: u64,
    /// How many of them are done.
    pub made: u64,
    /// The first step that failed, and why; null: none failed.
    pub failed: Option<Skipped>,
    /// How many steps failed.
    #[serde(default)]
    #[schemars(!default)]
    pub failures: u64,
    /// Optional steps that were refused, and why.
    #[serde(default)]
    #[schemars(!default)]
    pub skipped: Vec<Skipped>,
}

/// Every apply, first to last.
pub fn history(entries: &[Result<JournalEntry, JournalError>], ids: &[u64]) -> Vec<HistoryEntry> {
    entries.iter().zip(ids).map(|(entry, &id)| line(entry, id)).collect()
}

fn line(entry: &Result<JournalEntry, JournalError>, id: u64) -> HistoryEntry {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => {
            return HistoryEntry {
                id,
                profile: None,
                status: None,
                unreadable: Some(error.to_string()),
                changes: 0,
                unconfirmed_until: None,
                sessions: vec![],
                left: vec![],
            };
        }
    };
    let because = |step: &StepRecord, why: Option<&String>| Skipped {
        what: step.planned.target.to_string(),
        why: why.cloned().unwrap_or_default(),
    };
    let sessions = entry.sessions.iter().map(|session| {
        let is_done =
            |step: &&StepRecord| matches!(step.progress, StepProgress::Done | StepProgress::Already);
        let of = |progress| session.steps.iter().filter(move |step| step.progress == progress);
        let skipped = of(StepProgress::Skipped).map(|step| because(step, step.why.as_ref()));
        HistorySession {
            kind: session.kind,
            at: session.at,
            outcome: session.end.map(|(outcome, _)| outcome),
            steps: session.steps.len() as u64,
            made: session.steps.iter().filter(is_done).count() as u64,
            failed: of(StepProgress::Failed).next().map(|step| because(step, step.why.as_ref())),
            failures: of(StepProgress::Failed).count() as u64,
            skipped: skipped.collect(),
        }
    });
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    let left = steps.filter_map(|step| match &step.back {
        Some((RollbackResult::Changed | RollbackResult::Failed, why)) => Some(because(step, why.as_ref())),
        _ => None,
    });
    let waits = entry.is_unconfirmed() && entry.status() != Status::PartlyBack;
    HistoryEntry {
        id,
        profile: entry.profile().map(str::to_owned),
        status: Some(entry.status()),
        unreadable: None,
        changes: entry.plan.as_ref().map_or(0, |plan| plan.changes.len() as u64),
        unconfirmed_until: entry.armed.filter(|_| waits),
        sessions: sessions.collect(),
        left: left.collect(),
    }
}
