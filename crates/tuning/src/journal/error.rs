//! Why a journal could not be written or read.

use std::io;
use std::path::PathBuf;

/// Why not.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file or directory refused.
    #[error("cannot {tried} {path}: {error}{}", hint(error))]
    Io {
        /// `write`, `read`, `make`.
        tried: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Somebody else is changing the machine.
    #[error(
        "another whylate is changing this machine ({holder} holds {path}): wait until it is done, and look at \
         `whylate history`"
    )]
    Locked {
        /// Who, as they wrote it: `whylate apply, process 4711`.
        holder: String,
        /// The lock.
        path: PathBuf,
    },
    /// A record that is not the last cannot be read.
    #[error(
        "{path} is damaged in line {line}: {why}; what it says was there before is in blobs beside it, and \
         nothing was changed now"
    )]
    Damaged {
        /// Which.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// In what way.
        why: String,
    },
    /// There is no such journal.
    #[error("there is no apply number {id}: `whylate history` shows those that are")]
    NoSuch {
        /// Its number.
        id: u64,
    },
}

impl JournalError {
    pub(crate) fn io(
        tried: &'static str,
        path: impl Into<PathBuf>,
        error: impl Into<io::Error>,
    ) -> JournalError {
        JournalError::Io { tried, path: path.into(), error: error.into() }
    }
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; nothing is changed that cannot be written down first: make room, and try again"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "; nothing is changed that cannot be written down first: mount it writable, and try again"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "; something else is in its place: look at what it is, and move it away"
        }
        io::ErrorKind::PermissionDenied => "; run as root",
        _ => "",
    }
}
