//! The events that wait for their reader, and the ids of threads in them.

use whylate_base::{Comm, Tid};
use whylate_events::Event;

/// The id of the first task.
pub(crate) const FIRST_TID: i32 = 1000;
/// The events that have not been taken yet.
pub(crate) struct Trace {
    pub(crate) is_on: bool,
    pub(crate) events: Vec<Event>,
    pub(crate) comms: Vec<Comm>,
}

/// The id of a task.
pub(crate) fn tid_of(task: usize) -> Tid {
    Tid(FIRST_TID + task as i32)
}
