//! What was applied when, and what became of it.

use crate::journal::{JournalEntry, JournalError};
use crate::{RollbackResult, SessionKind, SessionOutcome, Status, StepProgress, Timestamp};

/// One apply, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Its number.
    pub id: u64,
    /// The profile; `None`: not known.
    pub profile: Option<String>,
    /// How it is with it; why its journal cannot be read.
    pub status: Result<Status, String>,
    /// How many settings its plan changes.
    pub changes: usize,
    /// When it is undone by itself, if nobody confirms until then.
    pub unconfirmed: Option<Timestamp>,
    /// Its sessions, first to last.
    pub sessions: Vec<HistorySession>,
    /// What a rollback left, and why: cell and reason.
    pub left: Vec<(String, String)>,
}

/// One session of an apply, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistorySession {
    /// What it did.
    pub kind: SessionKind,
    /// When.
    pub at: Timestamp,
    /// How it ended; `None`: it was cut off, or still runs.
    pub outcome: Option<SessionOutcome>,
    /// How many steps it had, and how many of them are made.
    pub steps: (usize, usize),
    /// The step it failed at, and why.
    pub failed: Option<(String, String)>,
}

/// Every apply, first to last.
pub fn history(entries: &[Result<JournalEntry, JournalError>], ids: &[u64]) -> Vec<HistoryEntry> {
    entries.iter().zip(ids).map(|(entry, &id)| line(entry, id)).collect()
}

fn line(entry: &Result<JournalEntry, JournalError>, id: u64) -> HistoryEntry {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => {
            let status = Err(error.to_string());
            let (profile, unconfirmed) = (None, None);
            return HistoryEntry {
                id,
                profile,
                status,
                changes: 0,
                unconfirmed,
                sessions: vec![],
                left: vec![],
            };
        }
    };
    let parts = entry.sessions.iter().map(|session| {
        let made = |progress: &StepProgress| matches!(progress, StepProgress::Done | StepProgress::Already);
        let failed = session.steps.iter().find_map(|taken| match &taken.progress {
            StepProgress::Failed(why) => Some((taken.planned.target.to_string(), why.clone())),
            _ => None,
        });
        HistorySession {
            kind: session.kind,
            at: session.at,
            outcome: session.end.map(|(outcome, _)| outcome),
            steps: (session.steps.len(), session.steps.iter().filter(|taken| made(&taken.progress)).count()),
            failed,
        }
    });
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    let left = steps.filter_map(|taken| match &taken.back {
        Some((RollbackResult::Changed | RollbackResult::Failed, why)) => {
            Some((taken.planned.target.to_string(), why.clone().unwrap_or_default()))
        }
        _ => None,
    });
    HistoryEntry {
        id,
        profile: entry.profile().map(str::to_owned),
        status: Ok(entry.status()),
        changes: entry.plan.as_ref().map_or(0, |plan| plan.changes.len()),
        unconfirmed: entry.armed.filter(|_| entry.is_unconfirmed() && entry.status() != Status::PartlyBack),
        sessions: parts.collect(),
        left: left.collect(),
    }
}
