//! Merges the streams of all CPUs, batch by batch, into one stream in time order.

use super::cpu_events::CpuEvents;
use super::decode_pool::{Batch, DecodePool};
use std::hint::select_unpredictable;
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
    /// Merges `streams`; up to `threads` threads decode them, besides the consumer's own.
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

    /// True when there is no event left.
    #[inline]
    pub(super) fn is_at_end(&mut self) -> bool {
        while let Some(index) = self.heads.earliest() {
            if self.queues[index].head().is_some() {
                return false;
            }
            self.refill(index);
        }
        true
    }

    /// The earliest event of all queues, after [`is_at_end`](Self::is_at_end) returned false.
    #[inline]
    pub(super) fn next(&mut self) -> Option<&Event> {
        let index = self.heads.earliest()?;
        let queue = &mut self.queues[index];
        queue.next += 1;
        // The caller still borrows the batch's last event, so an empty queue stays the earliest until the next call.
        if let Some(head) = queue.head() {
            self.heads.set(index, Some(head));
        }
        queue.events.get(queue.next - 1)
    }

    /// Appends events after the end of all streams; they are simultaneous.
    pub(super) fn end_with(&mut self, events: Vec<Event>) {
        if let Some(queue) = self.queues.first_mut() {
            let times = events.iter().map(|event| event.ts.0).collect();
            *queue = Queue { events, times, next: 0 };
            self.heads.set(0, queue.head());
        }
    }

    /// The streams that ended since the last call.
    pub(super) fn ended(&mut self) -> Vec<CpuEvents> {
        std::mem::take(&mut self.ended)
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

/// A winner tree that finds the queue with the earliest event. A CPU cannot predict which queue wins, so no step
/// branches on it.
struct Tournament {
    /// Node `n` is the lesser of nodes `2n` and `2n + 1`; node 1 is the least of all. The second half are the
    /// leaves, one for each queue: the time in the upper 64 bits, the queue's number in the lower.
    nodes: Vec<i128>,
}

/// Later than every event.
const NONE: i128 = i128::MAX;

impl Tournament {
    fn of(queues: usize) -> Tournament {
        Tournament { nodes: vec![NONE; 2 * queues.next_power_of_two()] }
    }

    /// A queue's next event is at `head`.
    #[inline]
    fn set(&mut self, queue: usize, head: Option<i64>) {
        let mut least = head.map_or(NONE, |head| (i128::from(head) << 64) | queue as i128);
        let mut node = self.nodes.len() / 2 + queue;
        self.nodes[node] = least;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            least = select_unpredictable(other < least, other, least);
            node /= 2;
            self.nodes[node] = least;
        }
    }

    #[inline]
    fn earliest(&self) -> Option<usize> {
        Some(self.nodes[1]).filter(|&least| least != NONE).map(|least| least as u64 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_head_is_found_and_of_equals_the_lower_lane(
            queues in 1usize..40,
            changes in prop::collection::vec((0usize..40, prop::option::of(-5i64..5)), 1..100),
        ) {
            let mut heads = Tournament::of(queues);
            let mut plain = vec![None; queues];
            prop_assert_eq!(heads.earliest(), None);
            for (queue, head) in changes {
                let queue = queue % queues;
                heads.set(queue, head);
                plain[queue] = head;
                let there = plain.iter().enumerate().filter_map(|(queue, head)| head.map(|head| (head, queue)));
                prop_assert_eq!(heads.earliest(), there.min().map(|(_, queue)| queue));
            }
        }
    }
}
