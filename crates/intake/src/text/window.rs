//! Puts lines that are out of order back in order, as far as a bounded number of events reaches.
//!
//! Text is in order of time, unless the files of several CPUs were joined, pages were pasted in the
//! wrong order, or a clock was not in step with another CPU's.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use whylate_base::Ns;
use whylate_events::Event;

/// How many events are held back: 8 MiB of them. A shorter text is sorted as a whole.
/// Tests fill a smaller one.
pub(crate) const WINDOW: usize = if cfg!(test) { 1024 } else { 64 * 1024 };

/// The events that wait; of simultaneous ones, the first read comes out first.
#[derive(Default)]
pub(crate) struct Window {
    /// Those that came in order, which is nearly all.
    in_order: VecDeque<Event>,
    /// Those that were earlier than the last in order when they came, and so later than its simultaneous ones.
    late: BinaryHeap<Late>,
    late_so_far: u64,
    handed_out: Option<Ns>,
}

struct Late {
    event: Event,
    number: u64,
}

impl Late {
    fn key(&self) -> Reverse<(Ns, u64)> {
        Reverse((self.event.ts, self.number))
    }
}

impl PartialEq for Late {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Late {}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Late {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Window {
    pub(crate) fn len(&self) -> usize {
        self.in_order.len() + self.late.len()
    }

    /// True where no event was handed out yet.
    pub(crate) fn is_whole(&self) -> bool {
        self.handed_out.is_none()
    }

    /// Those that wait, in the order of their time but for those that came late.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.in_order.iter().chain(self.late.iter().map(|late| &late.event))
    }

    /// The event that comes out next.
    pub(crate) fn first(&self) -> Option<&Event> {
        match (self.in_order.front(), self.late.peek()) {
            (Some(first), Some(late)) if late.event.ts < first.ts => Some(&late.event),
            (None, Some(late)) => Some(&late.event),
            (first, _) => first,
        }
    }

    /// Takes an event in; false when later ones were handed out already, and it cannot be.
    pub(crate) fn push(&mut self, event: Event) -> bool {
        if self.handed_out.is_some_and(|ts| event.ts < ts) {
            return false;
        }
        if self.in_order.back().is_none_or(|last| last.ts <= event.ts) {
            self.in_order.push_back(event);
        } else {
            self.late_so_far += 1;
            self.late.push(Late { event, number: self.late_so_far });
        }
        true
    }

    /// Puts an event before all others, at the time of the first of them or before.
    pub(crate) fn push_first(&mut self, event: Event) {
        self.in_order.push_front(event);
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        let is_late = match (self.in_order.front(), self.late.peek()) {
            (first, Some(late)) => first.is_none_or(|first| late.event.ts < first.ts),
            (_, None) => false,
        };
        let event = match is_late {
            true => self.late.pop()?.event,
            false => self.in_order.pop_front()?,
        };
        self.handed_out = Some(event.ts);
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

    proptest! {
        #[test]
        fn what_fits_is_sorted_and_keeps_the_order_of_simultaneous_ones(
            times in prop::collection::vec(0i64..40, 0..200),
        ) {
            let events: Vec<Event> = times.iter().zip(0..).map(|(&ts, cpu)| event(ts, cpu)).collect();
            let mut window = Window::default();
            for &event in &events {
                prop_assert!(window.push(event));
            }
            let mut sorted = events.clone();
            sorted.sort_by_key(|event| event.ts);
            prop_assert_eq!(std::iter::from_fn(|| window.pop()).collect::<Vec<_>>(), sorted);
        }

        #[test]
        fn what_comes_out_never_goes_back(
            steps in prop::collection::vec((0i64..40, any::<bool>()), 0..200),
        ) {
            let mut window = Window::default();
            let mut last = None;
            let mut refused = 0;
            for (ts, pops) in steps {
                refused += usize::from(!window.push(event(ts, 0)));
                if pops && let Some(event) = window.pop() {
                    prop_assert!(last.is_none_or(|last| last <= event.ts));
                    last = Some(event.ts);
                }
            }
            prop_assert!(last.is_some() || refused == 0);
        }
    }
}
