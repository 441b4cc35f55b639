//! Why settings cannot be made to last.

use super::names::PROGRAM_COPY;
use crate::TargetError;
use whylate_bootloader::StageError;

/// Why settings cannot be made to last.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PersistError {
    /// No program would hold the request.
    #[error(
        "cannot hold a request in /dev/cpu_dma_latency: it lasts only while the file is open, and without systemd no service can hold it; open it in the application"
    )]
    NoHolder,
    /// Nothing would go on after a reboot.
    #[error(
        "cannot go on after a reboot: systemd does not start this machine, and no service can measure then; measure in the lab, in \
         two guests"
    )]
    NoResume,
    /// Not a latency.
    #[error(
        "cannot request {value:?} in /dev/cpu_dma_latency: it takes whole microseconds from 0 to 2147483647"
    )]
    NoLatency {
        /// What was asked for.
        value: String,
    },
    /// A sysctl's value does not fit its file.
    #[error("cannot keep {setting} = {value:?} in /etc/sysctl.d: a value there is one line")]
    NotALine {
        /// The setting.
        setting: String,
        /// The value.
        value: String,
    },
    /// The running program cannot be read, to be copied.
    #[error(
        "cannot copy {path} to {PROGRAM_COPY} for the service to run: {why}; install whylate in /usr/local/bin"
    )]
    NoProgram {
        /// Its path.
        path: String,
        /// Why not.
        why: String,
    },
    /// A file cannot be read or changed.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// A unit's state cannot be read.
    #[error(transparent)]
    Target(#[from] TargetError),
}
