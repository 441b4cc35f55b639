//! Why a guard cannot work.

/// Why a guard cannot work. Nothing is changed then.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// What is asked for cannot be done.
    #[error("{0}")]
    Input(String),
    /// The kernel does not provide what a guard needs to know.
    #[error("{0}")]
    Unknown(String),
    /// It failed while it guarded; what it had lent is restored.
    #[error("{0}")]
    Failed(String),
}
