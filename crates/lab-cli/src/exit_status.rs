//! Exit codes.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is right.
    Done,
    /// Something is not right.
    Found,
    /// It could not be done, or not all of it.
    Failed,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Done => 0,
            Outcome::Found => 1,
            Outcome::Failed => 2,
        })
    }
}
