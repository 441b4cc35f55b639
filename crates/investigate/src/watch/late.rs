//! A late activation, and what it exceeded.

use std::fmt;
use whylate_base::Ns;
use whylate_ledger::Activation;

/// What makes a response late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateLimit {
    /// A longer response is late.
    pub limit: Ns,
    /// Where that comes from.
    pub kind: LimitKind,
}

/// Where a limit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// The user gave it.
    Deadline,
    /// It is the period that the thread's timer keeps.
    Period,
    /// It is far beyond the thread's own history; the thread has no period, and no deadline was given.
    History,
}

impl LimitKind {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            LimitKind::Deadline => "deadline",
            LimitKind::Period => "period",
            LimitKind::History => "history",
        }
    }
}

impl fmt::Display for LateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            LimitKind::Deadline => write!(f, "its deadline of {}", self.limit),
            LimitKind::Period => write!(f, "its period of {} (inferred)", self.limit),
            LimitKind::History => {
                write!(
                    f,
                    "{}, far beyond its own history (it has no period, and no deadline was given)",
                    self.limit
                )
            }
        }
    }
}

/// A late activation with its explanation.
#[derive(Clone, Debug)]
pub struct LateActivation {
    /// When it was due, by CLOCK_REALTIME.
    pub at: Ns,
    /// What it exceeded.
    pub limit: LateLimit,
    /// The activation, with ledger and verdict.
    pub activation: Activation,
    /// The name of its group's culprit: the same each time.
    pub culprit: Option<String>,
    /// The file with its trace, in the watch's directory.
    pub window: Option<String>,
    /// Why there is no such file, where one was wanted.
    pub not_kept: Option<String>,
    /// The kinds of events that were not recorded then, to keep the bound on CPU time.
    pub dropped: Vec<&'static str>,
}
