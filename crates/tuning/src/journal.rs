//! What is being done is written down before it is done, and is on the disk by then.
//!
//! ```text
//! /var/lib/whylate/tuning/
//!   lock                  held while anything is changed
//!   N/plan.json           the plan, with its desired settings: made again at the next boot
//!   N/journal.jsonl       a record a line: session, begin, done ..., end
//!   N/blobs/K             files as they were before, and as they are to be
//! ```
//!
//! A record that is not whole is the last one, and was not acted upon: it does not count. Each has a checksum.

mod entry;
mod error;
mod file;
mod line;
mod record;
mod timestamp;

pub use entry::{JournalEntry, JournalSession, Status, StepProgress, StepRecord};
pub use error::JournalError;
pub use file::Journal;
pub(crate) use file::{load, numbers, state, sync_directory};
pub use record::{
    JournalRecord, PlannedAction, PlannedStep, RollbackResult, SessionKind, SessionOutcome, StoredState,
};
pub use timestamp::{BootInstant, Timestamp};
