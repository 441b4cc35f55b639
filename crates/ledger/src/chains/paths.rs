//! What is kept of each path: how often, how long, in what rhythm, and the worst instances with their ledgers.

use crate::model::{ChainElement, ChainInstance, Hop};
use crate::spread::Distribution;
use rustc_hash::FxHashMap;
use whylate_base::Ns;

/// Instances of a path that are kept with their hops.
const WORST: usize = 3;
/// Paths that are counted; of a trace with more, the first.
const MOST_PATHS: usize = 4_096;

/// What a path is: the choice that it answers, by index, and its elements.
pub(super) type Key = (Option<usize>, Vec<ChainElement>);

/// One path.
#[derive(Default)]
pub(super) struct Path {
    pub(super) latency: Distribution,
    pub(super) count: u64,
    pub(super) late: u64,
    /// Lengths of each hop.
    pub(super) hops: Vec<Distribution>,
    gaps: Distribution,
    last_start: Option<Ns>,
    pub(super) worst: Vec<ChainInstance>,
}

impl Path {
    /// Counts an instance that began at `start`, with hops of these lengths. True where it is among the worst so far.
    pub(super) fn count(&mut self, start: Ns, lengths: &[Ns], deadline: Option<Ns>) -> bool {
        let latency: Ns = lengths.iter().copied().sum();
        self.count += 1;
        self.latency.record(latency);
        self.late += u64::from(deadline.is_some_and(|deadline| latency > deadline));
        self.hops.resize_with(lengths.len().max(self.hops.len()), Distribution::default);
        self.hops.iter_mut().zip(lengths).for_each(|(hop, &length)| hop.record(length));
        // Branches of one chain begin at the same instant.
        if let Some(last) = self.last_start.filter(|&last| start > last) {
            self.gaps.record(start - last);
        }
        self.last_start = self.last_start.max(Some(start));
        self.worst.len() < WORST || self.worst.last().is_some_and(|least| latency > least.latency())
    }

    /// Keeps one of the worst.
    pub(super) fn keep(&mut self, start: Ns, end: Ns, hops: Vec<Hop>) {
        self.worst.push(ChainInstance { start, end, hops, verdict: None });
        self.worst.sort_by_key(|instance| (std::cmp::Reverse(instance.latency()), instance.start));
        self.worst.truncate(WORST);
    }

    /// The time from one beginning to the next, where nine of ten are within a tenth of the median.
    pub(super) fn period(&self) -> Option<Ns> {
        let [low, median, high] = [0.05, 0.5, 0.95].map(|share| self.gaps.percentile(share));
        let (low, median, high) = (low?, median?, high?);
        (self.count >= 5 && high - low <= Ns(median.0 / 5)).then_some(median)
    }
}

/// All paths.
#[derive(Default)]
pub(super) struct Paths {
    pub(super) by_key: FxHashMap<Key, Path>,
    /// Instances of paths that are not counted.
    pub(super) left_out: u64,
}

impl Paths {
    /// The path of this key; `None` where there are too many.
    pub(super) fn of(&mut self, key: Key) -> Option<&mut Path> {
        if self.by_key.len() >= MOST_PATHS && !self.by_key.contains_key(&key) {
            self.left_out += 1;
            return None;
        }
        Some(self.by_key.entry(key).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_period_where_its_beginnings_have_one() {
        let mut path = Path::default();
        for n in 0..20 {
            path.count(Ns::from_ms(10 * n) + Ns(n % 3), &[Ns(5), Ns(7)], Some(Ns(11)));
        }
        assert_eq!((path.count, path.late), (20, 20));
        let period = path.period().expect("a period");
        assert!((period - Ns::from_ms(10)).0.abs() < 50_000, "{period}");
        let mut path = Path::default();
        for n in 0..20i64 {
            path.count(Ns(n * n * 1_000), &[Ns(5)], None);
        }
        assert_eq!(path.period(), None);
    }

    #[test]
    fn the_worst_are_kept_worst_first() {
        let mut path = Path::default();
        for latency in [5, 9, 1, 7, 8] {
            if path.count(Ns(0), &[Ns(latency)], None) {
                path.keep(Ns(0), Ns(latency), Vec::new());
            }
        }
        let kept: Vec<i64> = path.worst.iter().map(|instance| instance.latency().0).collect();
        assert_eq!(kept, [9, 8, 7]);
    }
}
