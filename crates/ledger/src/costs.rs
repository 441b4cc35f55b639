//! What each cause and culprit cost a thread over all of its activations.

use crate::causes::Cause;
use crate::model::Culprit;
use rustc_hash::FxHashMap;
use whylate_base::{Confidence, Ns};

/// Culprits that are kept apart. Where threads come and go by the million, those that cost little are forgotten.
const MOST: usize = 8192;
/// The first few are most of all, and found quicker one after the other.
const FEW: usize = 4;

/// A cause with its culprit.
type Key = (Cause, Option<Culprit>);

/// The costs of one thread, by cause and culprit; of very many, those that cost most.
#[derive(Default)]
pub(crate) struct Costs {
    all: Vec<(Key, Cost)>,
    /// Each one's index in `all`.
    index: FxHashMap<Key, usize>,
}

/// What a culprit cost a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// The number of the last activation it was in.
    in_activation: u64,
    /// In how many activations.
    pub(crate) activations: u64,
    /// In all.
    pub(crate) total: Ns,
    /// In one activation, the most that is charged with more than low confidence; zero where it was in no whole period.
    pub(crate) most: Ns,
    /// In how many of these, and in all of them: the start and the end of a program are left out, as of the most.
    pub(crate) periods: u64,
    pub(crate) in_periods: Ns,
    /// What of the total is charged with low confidence.
    pub(crate) unsure: Ns,
    /// The same in the activation that is counted now.
    here: Ns,
}

impl Cost {
    /// Of the activations that it was in.
    pub(crate) fn average(&self) -> Ns {
        Ns(self.total.0 / i64::try_from(self.activations).unwrap_or(i64::MAX).max(1))
    }
}

impl Costs {
    /// Takes in that a culprit took `length` of an activation, by the number of that. The start and the end of a program are no measure
    /// of the most that it takes.
    #[inline]
    pub(crate) fn add(
        &mut self,
        key: Key,
        activation: u64,
        length: Ns,
        confidence: Confidence,
        of_period: bool,
    ) {
        let place = self.all.iter().take(FEW).position(|(known, _)| *known == key);
        let place = place.unwrap_or_else(|| self.place(key));
        let cost = &mut self.all[place].1;
        // A culprit of many segments was in this activation once.
        if cost.in_activation != activation {
            cost.in_activation = activation;
            cost.activations += 1;
            cost.periods += u64::from(of_period);
            cost.here = Ns::ZERO;
        }
        cost.total += length;
        match confidence {
            Confidence::Low => cost.unsure += length,
            Confidence::Medium | Confidence::High => cost.here += length,
        }
        if of_period {
            cost.in_periods += length;
            cost.most = cost.most.max(cost.here);
        }
    }

    fn place(&mut self, key: Key) -> usize {
        let place = *self.index.entry(key).or_insert(self.all.len());
        if place == self.all.len() {
            self.all.push((key, Cost::default()));
        }
        place
    }

    /// Forgets those that cost little, where they are many.
    #[inline]
    pub(crate) fn bound(&mut self) {
        if self.all.len() > MOST {
            self.forget_small();
        }
    }

    #[cold]
    fn forget_small(&mut self) {
        let mut totals: Vec<Ns> = self.all.iter().map(|(_, cost)| cost.total).collect();
        let (_, &mut middle, _) = totals.select_nth_unstable(MOST / 2);
        self.all.retain(|(_, cost)| cost.total > middle);
        self.index = self.all.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
    }

    /// Of one cause and culprit.
    pub(crate) fn get(&self, key: &Key) -> Option<&Cost> {
        self.all.get(*self.index.get(key)?).map(|(_, cost)| cost)
    }

    /// All of them, in the order in which they first appeared.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Key, Cost)> {
        self.all.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Priority, Tid};

    #[test]
    fn the_end_of_a_program_counts_for_no_period() {
        let key = (Cause::Softirq, None);
        let mut costs = Costs::default();
        costs.add(key, 1, Ns(60), Confidence::High, true);
        costs.add(key, 2, Ns(20_000), Confidence::High, false);
        let cost = costs.get(&key).expect("it was added");
        assert_eq!((cost.activations, cost.total), (2, Ns(20_060)));
        assert_eq!((cost.periods, cost.in_periods, cost.most), (1, Ns(60), Ns(60)));
    }

    #[test]
    fn of_very_many_culprits_those_that_cost_most_are_kept() {
        let key = |tid: i32| {
            let by = Culprit::Task { tid: Tid(tid), comm: Comm::default(), priority: Priority(10) };
            (Cause::HigherPriorityTask, Some(by))
        };
        let mut costs = Costs::default();
        let rounds = 4 * MOST as i32;
        for n in 0..rounds {
            costs.add(key(1_000 + n), n as u64, Ns(1 + i64::from(n % 50)), Confidence::High, true);
            // In two segments of one activation.
            costs.add(key(7), n as u64 + 1, Ns(60), Confidence::High, true);
            costs.add(key(7), n as u64 + 1, Ns(40), Confidence::Low, true);
            costs.bound();
        }
        assert!(costs.iter().count() <= MOST && costs.index.len() == costs.all.len());
        let often = costs.get(&key(7)).expect("the worst of all");
        assert_eq!((often.activations, often.total), (rounds as u64, Ns(100 * i64::from(rounds))));
        // What is in doubt is no part of the most.
        assert_eq!((often.most, often.unsure), (Ns(60), Ns(40 * i64::from(rounds))));
        assert_eq!((often.periods, often.in_periods), (often.activations, often.total));
        assert!(costs.iter().all(|(key, cost)| costs.get(key).map(|same| same.total) == Some(cost.total)));
    }
}
