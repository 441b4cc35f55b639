//! Why a program was not started, or a thread not changed.

use super::refusal::Refusal;

/// Why not. Nothing is changed then.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A check refused.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The program does not exist.
    #[error("cannot execute {program}: there is no such program (nor, for a script, its interpreter)")]
    NotFound {
        /// As it was given.
        program: String,
    },
    /// The program exists, and cannot be executed.
    #[error("cannot execute {program}: {why}")]
    NotExecutable {
        /// As it was given.
        program: String,
        /// The system's reason.
        why: String,
    },
    /// What was asked for makes no sense here.
    #[error("{0}")]
    Input(String),
}

impl RunError {
    /// The exit code, as env(1) has them: 127 not found, 126 cannot be executed, 125 anything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            RunError::NotFound { .. } => 127,
            RunError::NotExecutable { .. } => 126,
            RunError::Refused(_) | RunError::Input(_) => 125,
        }
    }
}

impl RunError {
    /// A refusal that a check found.
    pub(super) fn of_check(refusal: Refusal) -> RunError {
        RunError::Refused(Box::new(refusal))
    }
}

impl From<Box<Refusal>> for RunError {
    fn from(refusal: Box<Refusal>) -> RunError {
        RunError::Refused(refusal)
    }
}
