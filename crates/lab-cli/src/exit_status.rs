//! Exit codes.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// All is right.
    Done,
    /// Something is not right.
    Found,
    /// It could not be done, or not all of it.
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
