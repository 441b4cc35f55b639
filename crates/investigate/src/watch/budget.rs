//! The bound on the CPU time of reading events: which events are dropped when it is exceeded, and when they come back.

use super::event_groups::{GROUPS, KindCounts, NONE_COUNTED};
use std::collections::VecDeque;
use whylate_base::Ns;

/// The share is taken over this time at least, and at most.
const LEAST: Ns = Ns::from_secs(3);
const MOST: Ns = Ns::from_secs(10);
/// A group comes back on trial after this; after each failed trial, it takes twice as long, up to the longest.
const FIRST_TRIAL: Ns = Ns::from_secs(30);
const LONGEST_TRIAL: Ns = Ns::from_secs(3_600);
/// A group on trial for so long has come back for good.
const TRIAL: Ns = Ns::from_secs(20);
/// A group comes back only where no more than this part of the budget is used.
const ROOM: f64 = 0.7;
/// The longest pause at once.
const LONGEST_PAUSE: Ns = Ns::from_secs(60);
/// Fewer events in a second than this are not worth dropping.
const FEW: f64 = 50.0;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BudgetStep {
    /// Nothing.
    Stay,
    /// Record these events no more.
    Drop(usize),
    /// Record them again.
    Restore(usize),
    /// There is nothing left to drop: record nothing for this long.
    Pause(Ns),
}

/// A group that is not recorded.
#[derive(Clone, Copy, Debug)]
struct DroppedGroup {
    group: usize,
    until: Ns,
}

/// See the module.
#[derive(Debug)]
pub(super) struct CpuBudget {
    max: f64,
    samples: VecDeque<(Ns, Ns)>,
    dropped: Vec<DroppedGroup>,
    /// How long the next wait of each group is.
    waits: [Ns; GROUPS.len()],
    /// The group that came back last, and when.
    trial: Option<(usize, Ns)>,
    counted: KindCounts,
    counted_since: Option<Ns>,
}

impl CpuBudget {
    /// `max` is a share of one CPU.
    pub(super) fn new(max: f64) -> CpuBudget {
        CpuBudget {
            max,
            samples: VecDeque::new(),
            dropped: Vec::new(),
            waits: [FIRST_TRIAL; GROUPS.len()],
            trial: None,
            counted: NONE_COUNTED,
            counted_since: None,
        }
    }

    /// The groups that are not recorded now.
    pub(super) fn dropped(&self) -> Vec<usize> {
        self.dropped.iter().map(|dropped| dropped.group).collect()
    }

    /// Looks at what was used: `used` is all CPU time so far, `counts` are the events since the last look.
    pub(super) fn look(&mut self, now: Ns, used: Ns, counts: &KindCounts) -> BudgetStep {
        self.counted_since.get_or_insert(now);
        self.counted.iter_mut().zip(counts).for_each(|(all, new)| *all += new);
        self.samples.push_back((now, used));
        while self.samples.front().is_some_and(|&(at, _)| now - at > MOST) {
            self.samples.pop_front();
        }
        let Some(&(since, before)) = self.samples.front() else { return BudgetStep::Stay };
        let span = now - since;
        if span < LEAST {
            return BudgetStep::Stay;
        }
        let share = (used - before).0 as f64 / span.0 as f64;
        let step = self.step(now, span, share);
        if step != BudgetStep::Stay {
            // What was used before shows nothing of what comes.
            self.samples.clear();
            self.counted = NONE_COUNTED;
            self.counted_since = None;
        }
        step
    }

    fn step(&mut self, now: Ns, span: Ns, share: f64) -> BudgetStep {
        if let Some((group, since)) = self.trial
            && now - since >= TRIAL
            && share <= self.max
        {
            self.waits[group] = FIRST_TRIAL;
            self.trial = None;
        }
        if share > self.max {
            let Some(group) = self.most_expensive(now) else {
                let pause = span.0 as f64 * (share / self.max - 1.0);
                return BudgetStep::Pause(Ns(pause as i64).min(LONGEST_PAUSE));
            };
            if self.trial.take().is_some_and(|(tried, _)| tried == group) {
                self.waits[group] = Ns(self.waits[group].0 * 2).min(LONGEST_TRIAL);
            }
            self.dropped.push(DroppedGroup { group, until: now + self.waits[group] });
            return BudgetStep::Drop(group);
        }
        if share > self.max * ROOM || self.trial.is_some() {
            return BudgetStep::Stay;
        }
        // What was dropped last is the cheapest of all that was.
        match self.dropped.last().filter(|last| now >= last.until) {
            Some(&DroppedGroup { group, .. }) => {
                self.dropped.pop();
                self.trial = Some((group, now));
                BudgetStep::Restore(group)
            }
            None => BudgetStep::Stay,
        }
    }

    /// The group whose events are the most for their worth; one on trial first.
    fn most_expensive(&self, now: Ns) -> Option<usize> {
        let seconds = self.counted_since.map_or(1.0, |since| (now - since).as_secs_f64()).max(0.001);
        let is_there = |group: &usize| self.dropped.iter().all(|dropped| dropped.group != *group);
        if let Some((group, _)) = self.trial {
            return Some(group);
        }
        let weight = |group: usize| GROUPS[group].count(&self.counted) as f64 / GROUPS[group].worth;
        let many = |group: &usize| GROUPS[*group].count(&self.counted) as f64 / seconds >= FEW;
        (0..GROUPS.len()).filter(is_there).filter(many).max_by(|&a, &b| weight(a).total_cmp(&weight(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whylate_events::Kind;

    /// A machine with so many events of each group in a second; each costs 1 us.
    struct Machine {
        rates: [u64; GROUPS.len()],
        base: u64,
        now: Ns,
        used: Ns,
        paused: Ns,
    }

    impl Machine {
        fn second(&mut self, budget: &mut CpuBudget) -> BudgetStep {
            let dropped = budget.dropped();
            let mut counts = NONE_COUNTED;
            for (group, rate) in self.rates.iter().enumerate().filter(|(group, _)| !dropped.contains(group)) {
                counts[GROUPS[group].kinds[0] as usize] = *rate;
            }
            counts[Kind::Switch as usize] = self.base;
            let events: u64 = counts.iter().sum();
            self.now += Ns::from_secs(1);
            if self.now < self.paused {
                // Nothing is recorded, and the budget is not looked at.
                return BudgetStep::Stay;
            }
            self.used += Ns::from_us(events as i64);
            let step = budget.look(self.now, self.used, &counts);
            if let BudgetStep::Pause(pause) = step {
                self.paused = self.now + pause;
            }
            step
        }
    }

    #[test]
    fn the_most_expensive_goes_first_and_comes_back() {
        let mut budget = CpuBudget::new(0.01);
        let mut machine = Machine {
            rates: [2_000, 9_000, 100, 0, 0, 0, 100, 3_000],
            base: 4_000,
            now: Ns::ZERO,
            used: Ns::ZERO,
            paused: Ns::ZERO,
        };
        let steps: Vec<BudgetStep> = (0..10).map(|_| machine.second(&mut budget)).collect();
        assert_eq!(
            steps.iter().find(|step| **step != BudgetStep::Stay),
            Some(&BudgetStep::Drop(1)),
            "{steps:?}"
        );
        assert_eq!(budget.dropped(), [1]);
        machine.rates[1] = 10;
        machine.rates[0] = 100;
        machine.rates[7] = 100;
        let back = (0..60).map(|_| machine.second(&mut budget)).find(|step| *step != BudgetStep::Stay);
        assert_eq!(back, Some(BudgetStep::Restore(1)));
        assert!(budget.dropped().is_empty());
    }

    #[test]
    fn a_group_that_is_still_too_expensive_waits_longer_each_time() {
        let mut budget = CpuBudget::new(0.01);
        let mut machine = Machine {
            rates: [0, 20_000, 0, 0, 0, 0, 0, 0],
            base: 1_000,
            now: Ns::ZERO,
            used: Ns::ZERO,
            paused: Ns::ZERO,
        };
        let drops = (0..3_600).filter(|_| machine.second(&mut budget) == BudgetStep::Drop(1)).count();
        assert!((3..=8).contains(&drops), "{drops}");
    }

    proptest! {
        /// Whatever the rates, the bound holds over minutes.
        #[test]
        fn the_bound_holds(rates in prop::array::uniform8(0u64..60_000), base in 0u64..60_000) {
            let mut budget = CpuBudget::new(0.01);
            let mut machine = Machine { rates, base, now: Ns::ZERO, used: Ns::ZERO, paused: Ns::ZERO };
            for _ in 0..3_600 {
                machine.second(&mut budget);
            }
            let share = machine.used.0 as f64 / machine.now.0 as f64;
            prop_assert!(share < 0.0205, "{}", share);
        }
    }
}
