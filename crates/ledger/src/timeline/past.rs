//! A value over time: what it was at an instant, and not only what it is now.

use super::recent::partition_from_end;
use std::collections::VecDeque;
use whylate_base::Ns;

/// Each value holds from its change to the next. Most never change, and cost no allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past<T> {
    earlier: VecDeque<(Ns, T)>,
    latest: T,
    /// When the latest value was first seen; `None` of one that no event showed.
    since: Option<Ns>,
}

impl<T: Copy + PartialEq> Past<T> {
    /// A value that no event has shown.
    pub(crate) fn assumed(value: T) -> Past<T> {
        Past { earlier: VecDeque::new(), latest: value, since: None }
    }

    /// The latest value.
    #[inline]
    pub(crate) fn latest(&self) -> T {
        self.latest
    }

    /// The latest value, if an event has shown it.
    pub(crate) fn shown(&self) -> Option<T> {
        self.since.map(|_| self.latest)
    }

    /// True when an event has shown this latest value.
    #[inline]
    pub(crate) fn is_shown_as(&self, value: T) -> bool {
        self.latest == value && self.since.is_some()
    }

    /// An event shows that it is `value` from `at` on.
    #[inline]
    pub(crate) fn set(&mut self, at: Ns, value: T) {
        if !self.is_shown_as(value) {
            self.change(at, value);
        }
    }

    #[cold]
    fn change(&mut self, at: Ns, value: T) {
        if let Some(since) = self.since.filter(|&since| since < at) {
            self.earlier.push_back((since, self.latest));
        }
        // Clocks of two CPUs may disagree by some nanoseconds.
        self.since = self.since.max(Some(at));
        self.latest = value;
    }

    /// It is `value`, for want of an event that shows it.
    pub(crate) fn assume(&mut self, value: T) {
        self.latest = value;
    }

    /// The value at `instant`. Before the first event that shows one, that one is the best guess.
    #[inline]
    pub(crate) fn at(&self, instant: Ns) -> T {
        if self.since.is_none_or(|since| since <= instant) { self.latest } else { self.before(instant) }
    }

    fn before(&self, instant: Ns) -> T {
        let next = partition_from_end(&self.earlier, |change| change.0 <= instant);
        let known = next.checked_sub(1).and_then(|index| self.earlier.get(index));
        known.or(self.earlier.front()).map_or(self.latest, |change| change.1)
    }

    /// When it changed between `from` and `to`, both excluded.
    #[inline]
    pub(crate) fn changes(&self, from: Ns, to: Ns) -> impl Iterator<Item = Ns> {
        // The first value of all is no change: what was before is not known.
        let last = self.since.filter(|&since| !self.earlier.is_empty() && from < since);
        let first = match last {
            Some(_) => partition_from_end(&self.earlier, |change| change.0 <= from).max(1),
            None => self.earlier.len(),
        };
        let earlier = self.earlier.range(first.min(self.earlier.len())..).map(|change| change.0);
        earlier.chain(last).take_while(move |&at| at < to)
    }

    /// True when it holds values of before the latest.
    pub(crate) fn has_past(&self) -> bool {
        !self.earlier.is_empty()
    }

    /// Forgets the values that were over by `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        if self.since.is_some_and(|since| since <= horizon) {
            self.earlier.clear();
        } else {
            super::recent::forget_before(&mut self.earlier, |change| change.0 <= horizon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past() -> Past<u32> {
        let mut past = Past::assumed(7);
        for (at, value) in [(10, 1), (20, 1), (30, 2), (30, 3), (40, 4)] {
            past.set(Ns(at), value);
        }
        past
    }

    #[test]
    fn each_instant_has_its_value() {
        let past = past();
        let values: Vec<u32> = [0, 10, 29, 30, 39, 40, 99].map(|at| past.at(Ns(at))).into();
        assert_eq!(values, [1, 1, 1, 3, 3, 4, 4]);
        let changes = |from, to| past.changes(Ns(from), Ns(to)).map(|at| at.0).collect::<Vec<_>>();
        assert_eq!(changes(0, 99), [30, 40]);
        assert_eq!(changes(30, 99), [40]);
        assert_eq!(changes(29, 40), [30]);
        assert_eq!(changes(40, 99), []);
    }

    #[test]
    fn what_no_event_showed_is_assumed_until_one_does() {
        let mut past = Past::assumed(7);
        assert_eq!((past.at(Ns(5)), past.changes(Ns(0), Ns(9)).next()), (7, None));
        past.set(Ns(8), 9);
        assert_eq!((past.at(Ns(5)), past.changes(Ns(0), Ns(9)).next()), (9, None));
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let mut past = past();
        past.forget(Ns(35));
        assert_eq!((past.earlier.len(), past.at(Ns(0)), past.at(Ns(35)), past.at(Ns(40))), (1, 3, 3, 4));
        past.forget(Ns(40));
        assert_eq!((past.earlier.len(), past.at(Ns(0))), (0, 4));
        past.set(Ns(35), 5);
        assert_eq!((past.latest(), past.at(Ns(40))), (5, 5));
    }
}
