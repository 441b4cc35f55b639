//! The streams of a file in one, on a thread of its own where it is large.
//!
//! ```text
//! streams ──(decode threads, where there are CPUs)──> merge ──(this thread)──> batches ──> consumer
//! ```

use super::cpu_events::CpuEvents;
use super::merger::Merger;
use super::record_merger::RecordMerger;
use whylate_events::{BATCH, Event, FillBatch};

/// How the streams of a file become one.
pub(super) enum Merge {
    /// Decoded by the thread that merges them.
    Here(RecordMerger),
    /// Decoded by other threads.
    Pooled(Merger),
}

impl Merge {
    /// Merges `streams`; up to `threads` other threads decode them.
    pub(super) fn new(streams: Vec<CpuEvents>, threads: usize) -> Merge {
        match threads {
            0 => Merge::Here(RecordMerger::new(streams)),
            _ => Merge::Pooled(Merger::new(streams, threads)),
        }
    }

    /// The streams that have ended.
    pub(super) fn into_ended(self) -> Vec<CpuEvents> {
        match self {
            Merge::Here(merger) => merger.into_ended(),
            Merge::Pooled(merger) => merger.into_ended(),
        }
    }
}

impl FillBatch for Merge {
    fn fill(&mut self, batch: &mut Vec<Event>) {
        batch.clear();
        // A loss comes together with the event behind it.
        batch.reserve(BATCH + 1);
        match self {
            Merge::Here(merger) => merger.fill(batch, BATCH),
            Merge::Pooled(merger) => merger.fill(batch, BATCH),
        }
    }
}
