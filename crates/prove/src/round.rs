//! A round: one of the two states of the machine, measured for a time.

use whylate_base::Ns;
use whylate_stats::{Histogram, Measured, Run};

/// The state of the machine in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoundState {
    /// Without the change.
    Before,
    /// With it.
    After,
}

impl RoundState {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            RoundState::Before => "before",
            RoundState::After => "after",
        }
    }

    /// The state of a round, from 0: before, after, after, before, and again. A steady drift of the machine is then the same
    /// for both states.
    pub(crate) fn of_round(round: usize) -> RoundState {
        match round % BLOCK {
            0 | 3 => RoundState::Before,
            _ => RoundState::After,
        }
    }
}

/// As many rounds are two of each state.
pub(crate) const BLOCK: usize = 4;

/// What was measured in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The state of the machine.
    pub state: RoundState,
    /// What the change is to improve.
    pub run: Run,
    /// Other real-time threads, by name.
    pub others: Vec<Measured>,
    /// How long each run of the throughput command took.
    pub throughput: Vec<Ns>,
}

impl Round {
    /// The samples of all threads.
    pub fn samples(&self) -> Histogram {
        self.run.all()
    }
}

/// The mean of the worst hundredth of all samples, of one sample at least. A single late sample moves it, as it moves the
/// maximum, but the others count as well.
pub(crate) fn worst_hundredth(histogram: &Histogram) -> Option<Ns> {
    let max = histogram.max()?;
    let wanted = histogram.count().div_ceil(100);
    // What is in no bucket is among the worst, and only the maximum is known of it.
    let beyond = histogram.overflow().min(wanted);
    let (mut sum, mut taken) = (i128::from(max.0) * i128::from(beyond), beyond);
    for bucket in histogram.buckets().iter().rev() {
        let count = bucket.count.min(wanted - taken);
        sum += i128::from(bucket.upto.min(max).0) * i128::from(count);
        taken += count;
    }
    i64::try_from(sum / i128::from(taken.max(1))).ok().map(Ns)
}

/// The middle of some numbers, the upper one of an even number of them.
pub(crate) fn middle(mut numbers: Vec<Ns>) -> Option<Ns> {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_meets_both_states_alike() {
        let (mut before, mut after) = (0, 0);
        for round in 0..BLOCK {
            match RoundState::of_round(round) {
                RoundState::Before => before += round,
                RoundState::After => after += round,
            }
        }
        assert_eq!(before, after);
    }

    #[test]
    fn the_worst_hundredth_is_that_of_the_latest_samples() {
        let of = |latencies: &[i64]| worst_hundredth(&latencies.iter().map(|&latency| Ns(latency)).collect());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3, 1, 2]), Some(Ns(3)));
        let mut many = vec![10; 198];
        many.extend([100, 300]);
        let worst = of(&many).expect("samples").0;
        // Buckets are no wider than a sixty-fourth.
        assert!((199..=206).contains(&worst), "{worst}");
    }
}
