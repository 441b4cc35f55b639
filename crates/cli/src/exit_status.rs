//! How a run ends, and what the shell sees of it.

use std::process::ExitCode;
use whylate_base::{Finding, Severity};
use whylate_stats::ClaimStatus;

/// Of `whylate run`, as of env(1): this program failed, not the one that it was to start.
pub(crate) const NOT_STARTED: u8 = 125;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// It was done, and nothing at or above `--fail-on` was found.
    Done,
    /// Something at or above `--fail-on` was found.
    Found,
    /// It could not be done: usage, I/O, permission.
    Failed,
    /// It was done as far as possible, and there is no answer.
    CannotTell,
    /// That of the program of `whylate run`, or why it was not started.
    Program(u8),
}

impl ExitStatus {
    /// Of the findings of an answer.
    pub(crate) fn of(findings: &[Finding], fail_on: Severity) -> ExitStatus {
        match findings.iter().any(|finding| finding.severity >= fail_on) {
            true => ExitStatus::Found,
            false => ExitStatus::Done,
        }
    }

    /// Of a claim: carried, contradicted, or neither. `None`: nothing was measured.
    pub(crate) fn of_claim(status: Option<ClaimStatus>) -> ExitStatus {
        match status {
            Some(status) if status.is_carried() => ExitStatus::Done,
            Some(ClaimStatus::Contradicted) => ExitStatus::Found,
            _ => ExitStatus::CannotTell,
        }
    }

    /// Of two answers: what was found counts, even where the other is unknown.
    pub(crate) fn and(self, other: ExitStatus) -> ExitStatus {
        let weight = |outcome: ExitStatus| match outcome {
            ExitStatus::Done => 0,
            ExitStatus::CannotTell => 1,
            ExitStatus::Found => 2,
            ExitStatus::Failed | ExitStatus::Program(_) => 3,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(outcome: ExitStatus) -> ExitCode {
        ExitCode::from(match outcome {
            ExitStatus::Done => 0,
            ExitStatus::Found => 1,
            ExitStatus::Failed => 2,
            ExitStatus::CannotTell => 3,
            ExitStatus::Program(code) => code,
        })
    }
}
