//! A source with its description put in other words: what it is packed in, which of many files a damage is in.

use std::cell::OnceCell;
use whylate_base::{Comm, Tid};
use whylate_events::{Event, EventSource, TraceInfo};

/// Lends what `source` lends, and tells of it what `retell` makes of the source's own description: of the one at
/// the beginning, and of the complete one at the end.
pub(crate) struct Retold<S, F> {
    source: S,
    retell: F,
    first: TraceInfo,
    last: OnceCell<TraceInfo>,
    ended: bool,
}

impl<S: EventSource, F: Fn(&mut TraceInfo)> Retold<S, F> {
    pub(crate) fn new(source: S, retell: F) -> Retold<S, F> {
        let mut first = source.info().clone();
        retell(&mut first);
        Retold { source, retell, first, last: OnceCell::new(), ended: false }
    }
}

impl<S: EventSource, F: Fn(&mut TraceInfo)> EventSource for Retold<S, F> {
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
            (self.retell)(&mut info);
            info
        };
        if self.ended { self.last.get_or_init(complete) } else { &self.first }
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.source.comms()
    }
}
