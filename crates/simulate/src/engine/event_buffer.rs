//! The events that wait for their reader, and the ids of threads in them.

use whylate_base::{Comm, Tid};
use whylate_events::Event;

/// The id of the first task of a task set.
const FIRST_TID: i32 = 1000;

/// The events that have not been taken yet.
pub(crate) struct Trace {
    pub(crate) is_on: bool,
    pub(crate) events: Vec<Event>,
    pub(crate) comms: Vec<Comm>,
    /// The ids of the tasks, by their index.
    pub(crate) tids: Vec<Tid>,
}

/// The id of a task: its own, or one by its place in the task set.
pub(crate) fn tid_of(own: Option<Tid>, task: usize) -> Tid {
    own.unwrap_or(Tid(FIRST_TID + task as i32))
}
