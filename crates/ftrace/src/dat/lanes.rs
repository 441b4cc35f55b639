//! Merging the streams of all CPUs, batch by batch, into one in time order.

use super::events::CpuEvents;
use super::feed::{Batch, Feed};
use std::cmp::Reverse;
use whylate_events::Event;

/// Events of a batch: some hundred kilobytes, which a CPU's cache can hold.
const LARGEST_BATCH: usize = 1024;
const SMALLEST_BATCH: usize = 16;
/// Events of all batches together.
const ALL_BATCHES: usize = 256 * 1024;

/// The streams of a file, each with its next events at hand. Of simultaneous events the lower lane's come first.
pub(super) struct Lanes {
    /// The events of the lane whose head is the earliest, the next of them, and the lane's number; that one's
    /// place among the lanes is empty.
    current: Vec<Event>,
    next: usize,
    number: usize,
    /// The current lane goes on for as long as its events are not later than this.
    limit: i64,
    lanes: Vec<Lane>,
    /// The heads of the other lanes, the earliest last. A new one is mostly among the earliest, and CPUs are
    /// few for a list: a heap takes longer.
    others: Vec<(i64, usize)>,
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
            current: Vec::new(),
            next: 0,
            number: 0,
            limit: i64::MIN,
            lanes: Vec::new(),
            others: Vec::with_capacity(streams.len()),
            feed,
            ended: Vec::new(),
        };
        lanes.lanes.resize_with(streams.len(), Lane::default);
        for (index, stream) in streams.into_iter().enumerate() {
            lanes.feed.give(index, Batch { stream: Box::new(stream), events: Vec::new() });
        }
        for index in 1..lanes.lanes.len() {
            let lane = lanes.refilled(index, Vec::new());
            lanes.others.extend(lane.head().map(|head| (head.ts.0, index)));
            lanes.lanes[index] = lane;
        }
        lanes.others.sort_by_key(|&head| Reverse(head));
        lanes.current = lanes.refilled(0, Vec::new()).events;
        lanes
    }

    #[inline]
    fn head(&self) -> Option<&Event> {
        self.current.get(self.next)
    }

    /// True when there is no event left.
    #[inline]
    pub(super) fn is_at_end(&mut self) -> bool {
        while self.head().is_none_or(|head| head.ts.0 > self.limit) {
            if self.advance().is_none() {
                return true;
            }
        }
        false
    }

    /// The next event of all, after [`is_at_end`](Self::is_at_end) said that there is one.
    #[inline]
    pub(super) fn next(&mut self) -> Option<&Event> {
        self.next += 1;
        self.current.get(self.next - 1)
    }

    /// The next events of all that are of one lane, at most `most`, after [`is_at_end`](Self::is_at_end).
    #[inline]
    pub(super) fn run(&mut self, most: usize) -> &[Event] {
        let rest = self.current.get(self.next..).unwrap_or_default();
        let run = rest.iter().take(most).take_while(|event| event.ts.0 <= self.limit).count();
        self.next += run;
        &rest[..run]
    }

    /// After the end of all streams there are these.
    pub(super) fn end_with(&mut self, events: Vec<Event>) {
        (self.current, self.next) = (events, 0);
        self.limit = i64::MAX;
    }

    /// The streams that have come to their end since this was last asked.
    pub(super) fn ended(&mut self) -> Vec<CpuEvents> {
        std::mem::take(&mut self.ended)
    }

    /// Goes on with another lane, or with the current one's next batch; `None` at the end.
    fn advance(&mut self) -> Option<()> {
        if self.head().is_none() {
            let spare = std::mem::take(&mut self.current);
            (self.current, self.next) = (self.refilled(self.number, spare).events, 0);
        }
        let own = self.head().map(|head| (head.ts.0, self.number));
        let next = match (own, self.others.last()) {
            (Some(own), Some(&(ts, next))) if own > (ts, next) => {
                replace_last(&mut self.others, own);
                next
            }
            (Some((_, number)), _) => number,
            (None, _) => self.others.pop()?.1,
        };
        if next != self.number {
            self.lanes[self.number] = Lane { events: std::mem::take(&mut self.current), next: self.next };
            (self.current, self.next) = (std::mem::take(&mut self.lanes[next].events), self.lanes[next].next);
            self.number = next;
        }
        self.limit = match self.others.last() {
            None => i64::MAX,
            Some(&(ts, other)) if self.number < other => ts,
            Some(&(ts, _)) => ts.saturating_sub(1),
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

/// Takes the last of a list that falls out, and puts another where it belongs. Where CPUs are few, it is found
/// by looking from the end.
#[inline]
fn replace_last(list: &mut [(i64, usize)], new: (i64, usize)) {
    const FEW: usize = 32;
    let Some(mut at) = list.len().checked_sub(1) else { return };
    if list.len() > FEW {
        let place = list[..at].partition_point(|other| *other > new);
        list.copy_within(place..at, place + 1);
        at = place;
    } else {
        while at > 0 && list[at - 1] < new {
            list[at] = list[at - 1];
            at -= 1;
        }
    }
    list[at] = new;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_falls_on(mut list in prop::collection::vec((0i64..50, 0usize..100), 1..80), new in (0i64..50, 0usize..100)) {
            list.sort_by_key(|&entry| Reverse(entry));
            let mut expected = list[..list.len() - 1].to_vec();
            expected.push(new);
            expected.sort_by_key(|&entry| Reverse(entry));
            replace_last(&mut list, new);
            prop_assert_eq!(list, expected);
        }
    }
}
