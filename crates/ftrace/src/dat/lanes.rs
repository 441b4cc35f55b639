//! Merging the streams of all CPUs, batch by batch, into one in time order.

use super::events::CpuEvents;
use super::feed::{Batch, Feed};
use std::hint::select_unpredictable;
use whylate_events::Event;

/// Events of a batch: some hundred kilobytes, which a CPU's cache can hold.
const LARGEST_BATCH: usize = 1024;
const SMALLEST_BATCH: usize = 16;
/// Events of all batches together.
const ALL_BATCHES: usize = 256 * 1024;

/// The streams of a file, each with its next events at hand. Of simultaneous events the lower lane's come first.
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    heads: Heads,
    feed: Feed,
    ended: Vec<CpuEvents>,
}

/// One stream's events at hand. The ones behind them are on their way.
#[derive(Default)]
struct Lane {
    events: Vec<Event>,
    /// The time of each. Whose turn it is hangs on them alone, and side by side they stay in the nearest cache.
    times: Vec<i64>,
    next: usize,
}

impl Lane {
    #[inline]
    fn head(&self) -> Option<i64> {
        self.times.get(self.next).copied()
    }
}

impl Lanes {
    /// Decodes on up to `threads` threads besides the user's own.
    pub(super) fn new(streams: Vec<CpuEvents>, threads: usize) -> Lanes {
        let size = (ALL_BATCHES / 2 / streams.len().max(1)).clamp(SMALLEST_BATCH, LARGEST_BATCH);
        let feed = Feed::new(streams.len(), size, threads.min(streams.len()));
        let heads = Heads::of(streams.len());
        let mut lanes = Lanes { lanes: Vec::new(), heads, feed, ended: Vec::new() };
        lanes.lanes.resize_with(streams.len(), Lane::default);
        for (index, stream) in streams.into_iter().enumerate() {
            lanes.feed.give(index, Batch::of(stream));
        }
        for index in 0..lanes.lanes.len() {
            lanes.refill(index);
        }
        lanes
    }

    /// True when there is no event left.
    #[inline]
    pub(super) fn is_at_end(&mut self) -> bool {
        while let Some(index) = self.heads.earliest() {
            if self.lanes[index].head().is_some() {
                return false;
            }
            self.refill(index);
        }
        true
    }

    /// The next event of all, after [`is_at_end`](Self::is_at_end) said that there is one.
    #[inline]
    pub(super) fn next(&mut self) -> Option<&Event> {
        let index = self.heads.earliest()?;
        let lane = &mut self.lanes[index];
        lane.next += 1;
        // A batch that is used up is needed until its last event is, so its lane stays the earliest until then.
        if let Some(head) = lane.head() {
            self.heads.set(index, Some(head));
        }
        lane.events.get(lane.next - 1)
    }

    /// After the end of all streams there are these, which are simultaneous.
    pub(super) fn end_with(&mut self, events: Vec<Event>) {
        if let Some(lane) = self.lanes.first_mut() {
            let times = events.iter().map(|event| event.ts.0).collect();
            *lane = Lane { events, times, next: 0 };
            self.heads.set(0, lane.head());
        }
    }

    /// The streams that have come to their end since this was last asked.
    pub(super) fn ended(&mut self) -> Vec<CpuEvents> {
        std::mem::take(&mut self.ended)
    }

    /// Gives a lane its next batch, and has the one behind it decoded in place of the last.
    #[cold]
    fn refill(&mut self, index: usize) {
        let used = std::mem::take(&mut self.lanes[index]);
        if let Some(Batch { stream, events, times }) = self.feed.take(index) {
            match events.is_empty() {
                true => self.ended.push(*stream),
                false => self.feed.give(index, Batch { stream, events: used.events, times: used.times }),
            }
            self.lanes[index] = Lane { events, times, next: 0 };
        }
        self.heads.set(index, self.lanes[index].head());
    }
}

/// Which lane's next event is the earliest: a tournament, in which each lane that changes plays its way up anew.
/// Which lane wins is nothing a CPU could predict, so no step branches on it.
struct Heads {
    /// Node `n` is the lesser of nodes `2n` and `2n + 1`, node 1 the least of all. The last half are the lanes'
    /// own: the time above, the lane's number below.
    nodes: Vec<i128>,
}

/// Later than all.
const NONE: i128 = i128::MAX;

impl Heads {
    fn of(lanes: usize) -> Heads {
        Heads { nodes: vec![NONE; 2 * lanes.next_power_of_two()] }
    }

    /// A lane's next event is at `head`.
    #[inline]
    fn set(&mut self, lane: usize, head: Option<i64>) {
        let mut least = head.map_or(NONE, |head| (i128::from(head) << 64) | lane as i128);
        let mut node = self.nodes.len() / 2 + lane;
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
            lanes in 1usize..40,
            changes in prop::collection::vec((0usize..40, prop::option::of(-5i64..5)), 1..100),
        ) {
            let mut heads = Heads::of(lanes);
            let mut plain = vec![None; lanes];
            prop_assert_eq!(heads.earliest(), None);
            for (lane, head) in changes {
                let lane = lane % lanes;
                heads.set(lane, head);
                plain[lane] = head;
                let there = plain.iter().enumerate().filter_map(|(lane, head)| head.map(|head| (head, lane)));
                prop_assert_eq!(heads.earliest(), there.min().map(|(_, lane)| lane));
            }
        }
    }
}
