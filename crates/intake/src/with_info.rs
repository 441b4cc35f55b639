//! A source whose description is edited: what it is packed in, in which of many files a damage is.

use std::cell::OnceCell;
use whylate_base::{Comm, Tid};
use whylate_events::{Event, EventSource, TraceInfo};

/// Lends the events of `source`. Its description is the source's own after `edit`: of the first one at the
/// beginning, of the complete one at the end.
pub struct WithInfo<S, F> {
    source: S,
    edit: F,
    first: TraceInfo,
    last: OnceCell<TraceInfo>,
    ended: bool,
}

impl<S: EventSource, F: Fn(&mut TraceInfo)> WithInfo<S, F> {
    /// Edits with `edit`.
    pub fn new(source: S, edit: F) -> WithInfo<S, F> {
        let mut first = source.info().clone();
        edit(&mut first);
        WithInfo { source, edit, first, last: OnceCell::new(), ended: false }
    }
}

impl<S: EventSource, F: Fn(&mut TraceInfo)> EventSource for WithInfo<S, F> {
    fn next_event(&mut self) -> Option<&Event> {
        let event = self.source.next_event();
        self.ended = event.is_none();
        event
    }

    fn next_batch(&mut self) -> &[Event] {
        let batch = self.source.next_batch();
        self.ended = batch.is_empty();
        batch
    }

    fn info(&self) -> &TraceInfo {
        let complete = || {
            let mut info = self.source.info().clone();
            (self.edit)(&mut info);
            info
        };
        if self.ended { self.last.get_or_init(complete) } else { &self.first }
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.source.comms()
    }
}
