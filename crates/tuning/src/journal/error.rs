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
    /// Another program is changing the machine.
    #[error(
        "another whylate is changing this machine ({holder} holds {path}): wait for it, then see `whylate history`"
    )]
    Locked {
        /// Which program, as it wrote itself: `whylate apply, process 4711`.
        holder: String,
        /// The lock.
        path: PathBuf,
    },
    /// Another user could have written the journals, and a rollback writes what is in them to the machine.
    #[error(
        "cannot trust {path}: {why}; nothing was changed; check the journals in it, then make it root's alone \
         (chown -R root, chmod -R go-rwx)"
    )]
    Unsafe {
        /// The directory of the journals, or the one above it.
        path: PathBuf,
        /// In what way.
        why: String,
    },
    /// A record that is not the last cannot be read.
    #[error(
        "{path} is damaged in line {line}: {why}; the other lines and `blobs` beside it have the old states: restore by \
         hand what is not as it was, then move that directory out of the way"
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
            "; every change is journaled first, so nothing was changed: free some space, then try again"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "; every change is journaled first, so nothing was changed: mount it writable, then try again"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "; something else is at that path: check what it is, and move it away"
        }
        // Advice to run as root is wrong for a process that is root.
        io::ErrorKind::PermissionDenied if !rustix::process::geteuid().is_root() => "; run as root",
        _ => "",
    }
}
