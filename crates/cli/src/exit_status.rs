//! How a run ends, and what the shell sees of it.

use std::process::ExitCode;
use whylate_base::{Finding, Severity};
use whylate_stats::ClaimStatus;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was done, and nothing at or above `--fail-on` was found.
    Done,
    /// Something at or above `--fail-on` was found.
    Found,
    /// It could not be done: usage, I/O, permission.
    Failed,
    /// It was done as far as possible, and there is no answer.
    CannotTell,
}

impl Outcome {
    /// Of the findings of an answer.
    pub(crate) fn of(findings: &[Finding], fail_on: Severity) -> Outcome {
        match findings.iter().any(|finding| finding.severity >= fail_on) {
            true => Outcome::Found,
            false => Outcome::Done,
        }
    }

    /// Of a claim: carried, contradicted, or neither. `None`: nothing was measured.
    pub(crate) fn of_claim(status: Option<ClaimStatus>) -> Outcome {
        match status {
            Some(status) if status.is_carried() => Outcome::Done,
            Some(ClaimStatus::Contradicted) => Outcome::Found,
            _ => Outcome::CannotTell,
        }
    }

    /// Of two answers: what was found counts, even where the other is unknown.
    pub(crate) fn and(self, other: Outcome) -> Outcome {
        let weight = |outcome: Outcome| match outcome {
            Outcome::Done => 0,
            Outcome::CannotTell => 1,
            Outcome::Found => 2,
            Outcome::Failed => 3,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Done => 0,
            Outcome::Found => 1,
            Outcome::Failed => 2,
            Outcome::CannotTell => 3,
        })
    }
}
