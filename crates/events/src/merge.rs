//! Merging per-CPU streams, each in time order, into one.

use crate::Event;

/// Yields the events of several streams in time order; of simultaneous events, the lower
/// stream's first, as `trace-cmd report` does.
///
/// Machines have few CPUs and a CPU's events come in runs, so the stream that gave the last
/// event is kept while it stays ahead of the best of the others: most events cost one comparison.
pub struct Merge<I> {
    streams: Vec<Head<I>>,
    /// The stream whose head is the earliest.
    first: usize,
    /// The earliest head among all others.
    bound: Option<(i64, usize)>,
}

struct Head<I> {
    head: Option<Event>,
    rest: I,
}

impl<I: Iterator<Item = Event>> Merge<I> {
    /// Merges `streams`.
    pub fn new(streams: impl IntoIterator<Item = I>) -> Self {
        let streams = streams.into_iter().map(|mut rest| Head { head: rest.next(), rest }).collect();
        let mut merge = Merge { streams, first: 0, bound: None };
        merge.choose();
        merge
    }

    /// The streams, when done with merging or between two events.
    pub fn streams(&self) -> impl Iterator<Item = &I> {
        self.streams.iter().map(|stream| &stream.rest)
    }

    fn choose(&mut self) {
        let mut best: Option<(i64, usize)> = None;
        self.bound = None;
        for (index, stream) in self.streams.iter().enumerate() {
            let Some(head) = &stream.head else { continue };
            let key = (head.ts.0, index);
            match best {
                Some(current) if current < key => {
                    if self.bound.is_none_or(|bound| key < bound) {
                        self.bound = Some(key);
                    }
                }
                _ => {
                    self.bound = best;
                    best = Some(key);
                }
            }
        }
        self.first = best.map_or(0, |(_, index)| index);
    }
}

impl<I: Iterator<Item = Event>> Iterator for Merge<I> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let stream = self.streams.get_mut(self.first)?;
        let event = stream.head.take()?;
        stream.head = stream.rest.next();
        let ahead = match (&stream.head, self.bound) {
            (Some(head), Some(bound)) => (head.ts.0, self.first) < bound,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if !ahead {
            self.choose();
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, EventKind};
    use proptest::prelude::*;
    use whylate_base::{Cpu, Ns};

    fn event(ts: i64, cpu: u32) -> Event {
        Event { ts: Ns(ts), cpu: Cpu(cpu), context: Context::default(), kind: EventKind::Other }
    }

    proptest! {
        #[test]
        fn merging_is_a_stable_sort(mut streams in prop::collection::vec(prop::collection::vec(0i64..50, 0..30), 0..6)) {
            streams.iter_mut().for_each(|times| times.sort());
            let streams: Vec<Vec<Event>> = streams
                .iter()
                .enumerate()
                .map(|(cpu, times)| times.iter().map(|&ts| event(ts, cpu as u32)).collect())
                .collect();
            let mut expected: Vec<Event> = streams.concat();
            expected.sort_by_key(|event| event.ts);
            let merged: Vec<Event> = Merge::new(streams.into_iter().map(Vec::into_iter)).collect();
            prop_assert_eq!(merged, expected);
        }
    }
}
