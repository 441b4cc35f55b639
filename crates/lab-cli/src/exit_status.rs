//! Exit codes.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// All answers are right, or all checks passed.
    Done,
    /// An answer is wrong, or a check failed.
    Found,
    /// The run failed, or a part of it.
    Failed,
}

impl From<ExitStatus> for ExitCode {
    fn from(outcome: ExitStatus) -> ExitCode {
        ExitCode::from(match outcome {
            ExitStatus::Done => 0,
            ExitStatus::Found => 1,
            ExitStatus::Failed => 2,
        })
    }
}
