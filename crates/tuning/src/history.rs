//! What was applied when, and what became of it.

use crate::journal::{Entry, JournalError};
use crate::{Back, How, Kind, Moment, Progress, Standing};

/// One apply, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number.
    pub id: u64,
    /// The profile; `None`: not known.
    pub profile: Option<String>,
    /// How it is with it; why its journal cannot be read.
    pub standing: Result<Standing, String>,
    /// How many settings its plan changes.
    pub changes: usize,
    /// When it is undone by itself, if nobody confirms until then.
    pub unconfirmed: Option<Moment>,
    /// Its sessions, first to last.
    pub sessions: Vec<Part>,
    /// What a rollback left, and why: cell and reason.
    pub left: Vec<(String, String)>,
}

/// One session of an apply, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it did.
    pub kind: Kind,
    /// When.
    pub at: Moment,
    /// How it ended; `None`: it was cut off, or still runs.
    pub how: Option<How>,
    /// How many steps it had, and how many of them are made.
    pub steps: (usize, usize),
    /// The step it failed at, and why.
    pub failed: Option<(String, String)>,
}

/// Every apply, first to last.
pub fn history(entries: &[Result<Entry, JournalError>], ids: &[u64]) -> Vec<Line> {
    entries.iter().zip(ids).map(|(entry, &id)| line(entry, id)).collect()
}

fn line(entry: &Result<Entry, JournalError>, id: u64) -> Line {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => {
            let standing = Err(error.to_string());
            let (profile, unconfirmed) = (None, None);
            return Line { id, profile, standing, changes: 0, unconfirmed, sessions: vec![], left: vec![] };
        }
    };
    let parts = entry.sessions.iter().map(|session| {
        let made = |progress: &Progress| matches!(progress, Progress::Done | Progress::Already);
        let failed = session.steps.iter().find_map(|taken| match &taken.progress {
            Progress::Failed(why) => Some((taken.planned.cell.to_string(), why.clone())),
            _ => None,
        });
        Part {
            kind: session.kind,
            at: session.at,
            how: session.end.map(|(how, _)| how),
            steps: (session.steps.len(), session.steps.iter().filter(|taken| made(&taken.progress)).count()),
            failed,
        }
    });
    let steps = entry.sessions.iter().flat_map(|session| &session.steps);
    let left = steps.filter_map(|taken| match &taken.back {
        Some((Back::Changed | Back::Failed, why)) => {
            Some((taken.planned.cell.to_string(), why.clone().unwrap_or_default()))
        }
        _ => None,
    });
    Line {
        id,
        profile: entry.profile().map(str::to_owned),
        standing: Ok(entry.standing()),
        changes: entry.plan.as_ref().map_or(0, |plan| plan.changes.len()),
        unconfirmed: entry
            .armed
            .filter(|_| entry.is_unconfirmed() && entry.standing() != Standing::PartlyBack),
        sessions: parts.collect(),
        left: left.collect(),
    }
}
