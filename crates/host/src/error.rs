//! What can go wrong with a tree as a whole; what goes wrong with one file is a [`crate::Why`].

use std::io;
use std::path::PathBuf;

/// Why a machine cannot be looked at, or its capture not be written.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// It cannot be opened.
    #[error("cannot open {}", path.display())]
    Open {
        /// What was tried.
        path: PathBuf,
        /// Why it failed.
        #[source]
        error: io::Error,
    },
    /// It is nothing that this program knows.
    #[error(
        "{} is not a capture of a machine: {reason}; use a file of `whylate snapshot -o FILE`, or a directory with \
         its root",
        path.display()
    )]
    Foreign {
        /// What was opened.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
