//! Why nothing could be proven.

use whylate_investigate::measure::MeasureError;
use whylate_investigate::watch::WatchError;
use whylate_probes::load::LoadError;
use whylate_tuning::{JournalError, StepsError};

/// Why nothing could be proven. The machine is as it was, except where the text states otherwise.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// The journals refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A change cannot be made.
    #[error("{0}; nothing was changed")]
    Steps(#[from] StepsError),
    /// The change cannot be measured here: it needs a reboot, it is refused, or there is nothing to change.
    #[error("{0}")]
    Change(String),
    /// The change could not be made, or not be rolled back.
    #[error("{0}")]
    Apply(String),
    /// The probe.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// The watched threads.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// The command.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The command ended.
    #[error("the command ended before it was measured: {0}")]
    Command(String),
    /// A proof across reboots.
    #[error("{0}")]
    Reboots(String),
    /// The second process.
    #[error(
        "cannot start the process that restores the machine where this one is killed: {0}; nothing was changed"
    )]
    Watchdog(String),
}
