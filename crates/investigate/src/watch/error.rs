//! Why there is no watch.

use super::store::WatchStoreError;
use crate::record::RecordError;
use whylate_ftrace::tracefs::TracefsError;

/// Why a watch could not start, or broke off.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The machine's events could not be recorded, or the command not be started.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The windows cannot be kept.
    #[error(transparent)]
    Store(#[from] WatchStoreError),
    /// The kernel refused while it ran.
    #[error("the watch broke off: the kernel's trace can no longer be read")]
    Trace(#[from] TracefsError),
    /// The pages of the trace are not what the kernel described.
    #[error("the watch broke off: the kernel's pages are not as it describes them")]
    Pages(#[from] crate::flight::ReadError),
}
