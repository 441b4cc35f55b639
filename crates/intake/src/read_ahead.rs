//! A source that is read on a thread of its own, while its events are worked on.

use std::thread::available_parallelism;
use whylate_base::{Comm, Tid};
use whylate_events::{BATCH, Event, EventBatch, EventSource, FillBatch, ReadAhead, TraceInfo};

/// A source that may be read on another thread.
pub(crate) type Movable = Box<dyn EventSource + Send>;

/// `source`, read ahead where there is a CPU for that. Its description is the one that it has now until its end, and then the
/// complete one.
pub(crate) fn read_ahead(source: Movable) -> Box<dyn EventSource> {
    if available_parallelism().map_or(1, usize::from) < 2 {
        return source;
    }
    let (info, comms) = (source.info().clone(), source.comms());
    match ReadAhead::start(Box::new(Filler(source)), "whylate-read") {
        Ok(ahead) => Box::new(ReadingAhead { ahead, batch: EventBatch::default(), info, comms, ended: None }),
        Err(filler) => filler.0,
    }
}

struct Filler(Movable);

impl FillBatch for Filler {
    fn fill(&mut self, batch: &mut Vec<Event>) {
        batch.clear();
        while batch.len() < BATCH {
            match self.0.next_batch() {
                [] => break,
                events => batch.extend_from_slice(events),
            }
        }
    }
}

struct ReadingAhead {
    ahead: ReadAhead<Filler>,
    batch: EventBatch,
    /// As they were at the beginning.
    info: TraceInfo,
    comms: Vec<(Tid, Comm)>,
    ended: Option<Movable>,
}

impl ReadingAhead {
    /// Gets the next events where none is at hand. Where there are none, what is known is complete.
    #[inline]
    fn fill(&mut self) {
        if self.batch.is_used_up() && self.ended.is_none() {
            self.refill();
        }
    }

    #[cold]
    fn refill(&mut self) {
        self.batch.replace(|used| self.ahead.exchange(used));
        if self.batch.is_used_up() {
            self.ended = self.ahead.ended().map(|filler| filler.0);
        }
    }
}

impl EventSource for ReadingAhead {
    fn next_event(&mut self) -> Option<&Event> {
        self.fill();
        self.batch.take_next()
    }

    fn next_batch(&mut self) -> &[Event] {
        self.fill();
        self.batch.take_rest()
    }

    fn info(&self) -> &TraceInfo {
        self.ended.as_ref().map_or(&self.info, |source| source.info())
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.ended.as_ref().map_or_else(|| self.comms.clone(), |source| source.comms())
    }
}
