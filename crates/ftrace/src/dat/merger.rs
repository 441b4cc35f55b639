//! Merges the streams of all CPUs, which other threads decode batch by batch, into one stream in time order.

use super::cpu_events::CpuEvents;
use super::decode_pool::{Batch, DecodePool};
use super::tournament::Tournament;
use whylate_events::Event;

/// Events of a batch: some hundred kilobytes, which fit into a CPU's cache.
const LARGEST_BATCH: usize = 1024;
const SMALLEST_BATCH: usize = 16;
/// Events of all batches together.
const ALL_BATCHES: usize = 256 * 1024;

/// The streams of a file, each with a queue of decoded events. Simultaneous events come in the order of the queues.
pub(super) struct Merger {
    queues: Vec<Queue>,
    heads: Tournament,
    pool: DecodePool,
    ended: Vec<CpuEvents>,
}

/// The decoded events of one stream. The pool decodes the next ones meanwhile.
#[derive(Default)]
struct Queue {
    events: Vec<Event>,
    /// The time of each event: all that merging compares, so it stays in the nearest cache.
    times: Vec<i64>,
    next: usize,
}

impl Queue {
    #[inline]
    fn head(&self) -> Option<i64> {
        self.times.get(self.next).copied()
    }
}

impl Merger {
    /// Merges `streams`; up to `threads` threads decode them, besides the one that merges.
    pub(super) fn new(streams: Vec<CpuEvents>, threads: usize) -> Merger {
        let size = (ALL_BATCHES / 2 / streams.len().max(1)).clamp(SMALLEST_BATCH, LARGEST_BATCH);
        let pool = DecodePool::new(streams.len(), size, threads.min(streams.len()));
        let heads = Tournament::of(streams.len());
        let mut merger = Merger { queues: Vec::new(), heads, pool, ended: Vec::new() };
        merger.queues.resize_with(streams.len(), Queue::default);
        for (index, stream) in streams.into_iter().enumerate() {
            merger.pool.give(index, Batch::of(stream));
        }
        for index in 0..merger.queues.len() {
            merger.refill(index);
        }
        merger
    }

    /// Appends the next events to `batch`, until that has `size`.
    pub(super) fn fill(&mut self, batch: &mut Vec<Event>, size: usize) {
        while batch.len() < size
            && let Some(index) = self.heads.earliest()
        {
            let queue = &mut self.queues[index];
            batch.extend(queue.events.get(queue.next));
            queue.next += 1;
            match queue.head() {
                Some(head) => self.heads.set(index, Some(head)),
                None => self.refill(index),
            }
        }
    }

    /// The streams that have ended.
    pub(super) fn into_ended(self) -> Vec<CpuEvents> {
        self.ended
    }

    /// Gives a queue its next batch, and lets the pool decode the following one into the used buffers.
    #[cold]
    fn refill(&mut self, index: usize) {
        let used = std::mem::take(&mut self.queues[index]);
        if let Some(Batch { stream, events, times }) = self.pool.take(index) {
            match events.is_empty() {
                true => self.ended.push(*stream),
                false => self.pool.give(index, Batch { stream, events: used.events, times: used.times }),
            }
            self.queues[index] = Queue { events, times, next: 0 };
        }
        self.heads.set(index, self.queues[index].head());
    }
}
