//! Why a tracing session could not be had, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why tracefs could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TracefsError {
    /// No tracefs is mounted in this mount namespace, and we may not mount one ourselves.
    #[error(
        "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing (it could not be mounted for this process alone either, which needs root or CAP_SYS_ADMIN)"
    )]
    NotMounted {
        /// The kernel's answer to a mount for this process alone.
        source: io::Error,
    },
    /// A root without /proc, such as that of a minimal initramfs.
    #[error("/proc is not mounted: mount -t proc proc /proc")]
    NoProc,
    /// The kernel was built without tracing.
    #[error("this kernel has no tracefs: it was built without CONFIG_TRACING")]
    NotBuilt,
    /// tracefs is there, but this user may not use it.
    #[error("no permission to {action} {}: run as root, or let sudo run whylate for this user (a group of the tracefs mount may read a trace, and start none: the files of an instance are 0640); under kernel lockdown tracing is refused even to root", path.display())]
    Permission {
        /// What was tried: `read`, `write` ...
        action: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// An event that this kernel does not have.
    #[error("this kernel has no event {event}: {} does not exist", path.display())]
    NoSuchEvent {
        /// As `group:name` or `group`.
        event: String,
        /// Where it would be.
        path: PathBuf,
    },
    /// A file of tracefs does not have the known content.
    #[error("{}: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        what: String,
    },
    /// Anything else that the kernel refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried: `read`, `write "mono" to` ...
        action: String,
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl TracefsError {
    /// The error of an action on a path; a missing right becomes [`TracefsError::Permission`].
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied => TracefsError::Permission { action, path: path.to_owned() },
            _ => TracefsError::Io { action: action.to_owned(), path: path.to_owned(), source },
        }
    }

    /// The error of writing `value` to a path.
    pub(super) fn write(value: &str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied => {
                TracefsError::Permission { action: "write", path: path.to_owned() }
            }
            _ => TracefsError::Io {
                action: format!("write \"{}\" to", value.trim_end()),
                path: path.to_owned(),
                source,
            },
        }
    }
}
