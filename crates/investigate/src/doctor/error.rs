//! Why nothing could be examined.

use crate::record::RecordError;
use whylate_base::Tid;
use whylate_intake::OpenError;
use whylate_sys::SysError;

/// Why nothing could be examined.
#[derive(Debug, thiserror::Error)]
pub enum DoctorError {
    /// There is no such process.
    #[error("cannot examine process {pid}: there is none, or it has ended; `ps -e` lists those that run")]
    NoSuchProcess {
        /// As asked for.
        pid: Tid,
    },
    /// It is a thread of the kernel.
    #[error("cannot examine process {pid}: it is a thread of the kernel; examine a program")]
    KernelThread {
        /// As asked for.
        pid: Tid,
    },
    /// The process may not be observed.
    #[error("cannot examine process {pid}: {error}; run whylate as root, or as the user of the process")]
    Refused {
        /// As asked for.
        pid: Tid,
        /// The kernel's answer.
        error: SysError,
    },
    /// It could not be recorded, or the command could not be started.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The recording could not be read back.
    #[error("cannot read the recording back")]
    Open(#[from] OpenError),
    /// There is no room for the recording.
    #[error("cannot make a directory for the recording in {}; TMPDIR selects another place", std::env::temp_dir().display())]
    Directory(#[source] std::io::Error),
}
