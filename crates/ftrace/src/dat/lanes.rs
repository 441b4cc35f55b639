//! Merging the streams of all CPUs, batch by batch, into one in time order.

use super::events::CpuEvents;
use super::feed::{Batch, Feed};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use whylate_events::Event;

/// Events of a batch: some hundred kilobytes, which a CPU's cache can hold.
const LARGEST_BATCH: usize = 1024;
const SMALLEST_BATCH: usize = 16;
/// Events of all batches together.
const ALL_BATCHES: usize = 256 * 1024;

/// The streams of a file, each with its next events at hand. Of simultaneous events the lower lane's come first.
pub(super) struct Lanes {
    /// The lane whose head is the earliest, and its number; that one's place among the lanes is empty.
    current: Lane,
    number: usize,
    /// The current lane goes on for as long as its events are not later than this.
    limit: i64,
    lanes: Vec<Lane>,
    /// The heads of the other lanes.
    others: BinaryHeap<Reverse<(i64, usize)>>,
    feed: Feed,
    ended: Vec<CpuEvents>,
}

/// One stream's events at hand. The ones behind them are on their way.
#[derive(Default)]
struct Lane {
    events: Vec<Event>,
    next: usize,
}

impl Lane {
    #[inline]
    fn head(&self) -> Option<&Event> {
        self.events.get(self.next)
    }
}

impl Lanes {
    /// Decodes on up to `threads` threads besides the user's own.
    pub(super) fn new(streams: Vec<CpuEvents>, threads: usize) -> Lanes {
        let size = (ALL_BATCHES / 2 / streams.len().max(1)).clamp(SMALLEST_BATCH, LARGEST_BATCH);
        let feed = Feed::new(streams.len(), size, threads.min(streams.len()));
        let mut lanes = Lanes {
            current: Lane::default(),
            number: 0,
            limit: i64::MIN,
            lanes: Vec::new(),
            others: BinaryHeap::with_capacity(streams.len()),
            feed,
            ended: Vec::new(),
        };
        lanes.lanes.resize_with(streams.len(), Lane::default);
        for (index, stream) in streams.into_iter().enumerate() {
            lanes.feed.give(index, Batch { stream: Box::new(stream), events: Vec::new() });
        }
        for index in 1..lanes.lanes.len() {
            let lane = lanes.refilled(index, Vec::new());
            lanes.others.extend(lane.head().map(|head| Reverse((head.ts.0, index))));
            lanes.lanes[index] = lane;
        }
        lanes.current = lanes.refilled(0, Vec::new());
        lanes
    }

    /// True when there is no event left.
    #[inline]
    pub(super) fn is_at_end(&mut self) -> bool {
        while self.current.head().is_none_or(|head| head.ts.0 > self.limit) {
            if self.advance().is_none() {
                return true;
            }
        }
        false
    }

    /// The next event of all, after [`is_at_end`](Self::is_at_end) said that there is one.
    #[inline]
    pub(super) fn next(&mut self) -> Option<&Event> {
        self.current.next += 1;
        self.current.events.get(self.current.next - 1)
    }

    /// After the end of all streams there are these.
    pub(super) fn end_with(&mut self, events: Vec<Event>) {
        self.current = Lane { events, next: 0 };
        self.limit = i64::MAX;
    }

    /// The streams that have come to their end since this was last asked.
    pub(super) fn ended(&mut self) -> Vec<CpuEvents> {
        std::mem::take(&mut self.ended)
    }

    /// Goes on with another lane, or with the current one's next batch; `None` at the end.
    fn advance(&mut self) -> Option<()> {
        if self.current.head().is_none() {
            let spare = std::mem::take(&mut self.current.events);
            self.current = self.refilled(self.number, spare);
        }
        let own = self.current.head().map(|head| Reverse((head.ts.0, self.number)));
        let Reverse((_, next)) = match (own, self.others.peek_mut()) {
            (Some(own), Some(mut earliest)) if own < *earliest => std::mem::replace(&mut *earliest, own),
            (Some(own), _) => own,
            (None, Some(earliest)) => PeekMut::pop(earliest),
            (None, None) => return None,
        };
        if next != self.number {
            self.lanes[self.number] = std::mem::take(&mut self.current);
            self.current = std::mem::take(&mut self.lanes[next]);
            self.number = next;
        }
        self.limit = match self.others.peek() {
            None => i64::MAX,
            Some(&Reverse((ts, other))) if self.number < other => ts,
            Some(&Reverse((ts, _))) => ts.saturating_sub(1),
        };
        Some(())
    }

    /// A lane with its next batch, having the one behind it decoded into `spare`.
    #[cold]
    fn refilled(&mut self, index: usize, spare: Vec<Event>) -> Lane {
        let Some(Batch { stream, events }) = self.feed.take(index) else { return Lane::default() };
        match events.is_empty() {
            true => self.ended.push(*stream),
            false => self.feed.give(index, Batch { stream, events: spare }),
        }
        Lane { events, next: 0 }
    }
}
