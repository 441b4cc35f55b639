//! Why steps cannot be made.

use crate::Change;
use crate::persist::PersistError;
use whylate_bootloader::{BootError, VariableError};

/// Why steps could not be made of a plan.
#[derive(Debug, thiserror::Error)]
pub enum StepsError {
    /// A configuration file cannot be changed.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// What makes settings last cannot be made.
    #[error(transparent)]
    Persist(#[from] PersistError),
    /// The boot loader cannot be determined.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// The plan has a change that cannot be made.
    #[error("cannot {setting}: {why}")]
    Change {
        /// Of which setting.
        setting: String,
        /// Why not.
        why: String,
    },
}

pub(super) fn refused(change: &Change, why: impl Into<String>) -> StepsError {
    StepsError::Change { setting: format!("set {}", change.setting), why: why.into() }
}
