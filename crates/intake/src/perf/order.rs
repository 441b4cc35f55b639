//! Puts events in order. perf empties the buffers of the CPUs one after the other and marks each
//! turn (`FINISHED_ROUND`): nothing that comes later can be older than what a turn before that had.

use whylate_base::Ns;
use whylate_events::Event;

/// Events kept at a time: past that, the older half goes out and the rest may come too late.
const MOST_KEPT: usize = 1 << 19;

/// A CPU that is interrupted while it records has stamped its event already, and puts it behind those
/// of the interruption: of its own, or of its hypervisor.
const SLACK: Ns = Ns::from_ms(20);
/// Sorted at a time, at least.
const HELPING: usize = 4096;

#[derive(Default)]
pub(super) struct Order {
    /// Not yet in order.
    kept: Vec<Event>,
    /// In order, to be handed out from `next` on.
    ready: Vec<Event>,
    next: usize,
    /// The latest event so far, and up to the end of the last round.
    latest: Option<Ns>,
    round: Option<Ns>,
    /// How many must be kept before a round settles anything.
    helping: usize,
    /// Up to here everything was handed out.
    out: Option<Ns>,
    /// Events that came after later ones had been handed out.
    pub(super) late: u64,
}

impl Order {
    /// Takes an event; false where it comes too late to be put in order.
    pub(super) fn push(&mut self, event: Event) -> bool {
        if self.out.is_some_and(|out| event.ts < out) {
            self.late += 1;
            return false;
        }
        self.latest = self.latest.max(Some(event.ts));
        self.kept.push(event);
        true
    }

    /// Says that a round has ended.
    pub(super) fn round(&mut self) {
        let limit = std::mem::replace(&mut self.round, self.latest).map(|round| round - SLACK);
        // Rounds may be many and short: what they settle goes out in good helpings.
        if let Some(limit) = limit.filter(|_| self.kept.len() >= self.helping) {
            self.release(|kept| kept.partition_point(|event| event.ts <= limit));
            self.helping = (2 * self.kept.len()).max(HELPING);
        }
    }

    /// True when no more must be taken before some are handed out.
    pub(super) fn full(&self) -> bool {
        self.kept.len() >= MOST_KEPT
    }

    /// Makes the older half ready.
    pub(super) fn release_half(&mut self) {
        self.release(|kept| kept.len() / 2);
    }

    /// Makes all ready.
    pub(super) fn release_all(&mut self) {
        self.release(<[Event]>::len);
    }

    fn release(&mut self, how_many: impl Fn(&[Event]) -> usize) {
        // Rounds are sorted runs, one for each CPU, which this sort takes as they are.
        self.kept.sort_by_key(|event| event.ts);
        let count = how_many(&self.kept);
        self.ready.drain(..self.next);
        self.next = 0;
        self.ready.extend(self.kept.drain(..count));
        self.out = self.out.max(self.ready.last().map(|event| event.ts));
    }

    /// True when an event is ready.
    pub(super) fn has_next(&self) -> bool {
        self.next < self.ready.len()
    }

    /// The next event in order.
    pub(super) fn next(&mut self) -> Option<&Event> {
        let event = self.ready.get(self.next)?;
        self.next += 1;
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whylate_base::Cpu;
    use whylate_events::{Context, EventKind};

    fn event(ts: i64, cpu: u32) -> Event {
        Event { ts: Ns(ts), cpu: Cpu(cpu), context: Context::default(), kind: EventKind::Other }
    }

    /// perf's rounds: each empties the CPUs' buffers in turn, while they go on being filled.
    fn rounds(buffers: &[Vec<i64>], turns: &[usize]) -> Vec<Option<Event>> {
        let mut at = vec![0; buffers.len()];
        let mut file = Vec::new();
        for &turn in turns.iter().chain([&usize::MAX]) {
            // By the time a CPU's buffer is read, all its events up to then are in it.
            let now = turn as i64 * 1000;
            for (cpu, buffer) in buffers.iter().enumerate() {
                let read_at = now.saturating_add(cpu as i64 * 100);
                let ready =
                    buffer[at[cpu]..].iter().take_while(|&&ts| turn == usize::MAX || ts < read_at).count();
                file.extend(buffer[at[cpu]..at[cpu] + ready].iter().map(|&ts| Some(event(ts, cpu as u32))));
                at[cpu] += ready;
            }
            file.push(None);
        }
        file
    }

    proptest! {
        #[test]
        fn rounds_are_put_in_order(mut buffers in prop::collection::vec(prop::collection::vec(0i64..50_000, 0..60), 1..4),
                                   helping in 1usize..20) {
            buffers.iter_mut().for_each(|buffer| buffer.sort());
            let turns: Vec<usize> = (1..50).collect();
            let mut order = Order { helping, ..Order::default() };
            let mut got = Vec::new();
            for event in rounds(&buffers, &turns) {
                match event {
                    Some(event) => prop_assert!(order.push(event)),
                    None => order.round(),
                }
                while let Some(event) = order.next() {
                    got.push(event.ts.0);
                }
            }
            order.release_all();
            while let Some(event) = order.next() {
                got.push(event.ts.0);
            }
            let mut expected = buffers.concat();
            expected.sort();
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn what_comes_too_late_is_counted() {
        let mut order = Order::default();
        assert!(order.push(event(10, 0)) && order.push(event(20, 0)));
        order.release_half();
        assert!(!order.push(event(9, 1)) && order.push(event(10, 1)));
        assert_eq!(order.late, 1);
    }
}
