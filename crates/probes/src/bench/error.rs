//! Why a bench, or one of its rows, could not be measured.

use std::io;
use std::path::PathBuf;
use whylate_sys::SysError;

/// A bench, or one of its rows, that could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
    /// A file could not be used.
    #[error("cannot {tried} {}: {source}", path.display())]
    File {
        /// Read, write or create.
        tried: &'static str,
        /// Which.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A call of the standard library failed.
    #[error("{tried}: {source}")]
    Io {
        /// What was tried.
        tried: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A thread could not be created, or ended early.
    #[error("{0}")]
    Thread(String),
    /// The machine or the permissions do not allow it.
    #[error("{0}")]
    Unavailable(String),
    /// What a killed run left changed could not be restored, or is in use.
    #[error("{0}")]
    Restore(String),
}

impl BenchError {
    /// Of a call of the standard library.
    pub(crate) fn io(tried: impl Into<String>, source: io::Error) -> BenchError {
        BenchError::Io { tried: tried.into(), source }
    }
}
