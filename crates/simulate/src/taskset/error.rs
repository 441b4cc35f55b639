//! What can be wrong with a task set.

use crate::check::ModelError;
use thiserror::Error;

/// A task set cannot be read.
#[derive(Debug, Error)]
pub enum TaskSetError {
    /// It is no TOML, or a key or a type is wrong.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// A value is wrong.
    #[error("{at}: {wrong}")]
    Value {
        /// The table and key.
        at: String,
        /// What is wrong, and what would be right.
        wrong: String,
    },
    /// What it describes cannot be.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl TaskSetError {
    pub(super) fn value(at: impl Into<String>, wrong: impl Into<String>) -> TaskSetError {
        TaskSetError::Value { at: at.into(), wrong: wrong.into() }
    }
}
