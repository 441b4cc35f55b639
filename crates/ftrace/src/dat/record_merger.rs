//! Merges the streams of all CPUs record by record, on one thread: an event is decoded where it is to be.

use super::cpu_events::CpuEvents;
use super::tournament::Tournament;
use whylate_events::Event;

/// The streams of a file, each at its next record. Simultaneous events come in the order of the streams.
pub(super) struct RecordMerger {
    streams: Vec<CpuEvents>,
    heads: Tournament,
}

impl RecordMerger {
    pub(super) fn new(mut streams: Vec<CpuEvents>) -> RecordMerger {
        let mut heads = Tournament::of(streams.len());
        for (index, stream) in streams.iter_mut().enumerate() {
            heads.set(index, stream.advance());
        }
        RecordMerger { streams, heads }
    }

    /// Appends the next events to `batch`, until that has `size` or, with a loss, one more.
    pub(super) fn fill(&mut self, batch: &mut Vec<Event>, size: usize) {
        while batch.len() < size
            && let Some(index) = self.heads.earliest()
        {
            let stream = &mut self.streams[index];
            stream.decode_head(batch);
            self.heads.set(index, stream.advance());
        }
    }

    /// The streams, which have ended.
    pub(super) fn into_ended(self) -> Vec<CpuEvents> {
        self.streams
    }
}
