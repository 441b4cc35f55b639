//! What a thread spent its CPU time on: in its worst activations, and in the others.

use whylate_base::{Ns, SourceLocation, Tid};
use whylate_events::StackId;

/// By how many standard deviations two counts must differ before chance is no explanation.
const DEVIATIONS: f64 = 4.0;

/// Samples of a thread's CPU clock, in its worst activations and in all others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuProfile {
    /// The thread.
    pub tid: Tid,
    /// Its stacks, the most frequent in the worst activations first.
    pub stacks: Vec<(StackId, SampleCounts)>,
    /// How many activations there are of each sort. No activation is an "other" where all of them are listed.
    pub activations: SampleCounts,
    /// The CPU time that a sample stands for.
    pub period: Ns,
    /// The lines that took more time in a worst activation than in another one, with what they called, by more than chance;
    /// most first.
    pub grown: Vec<GrownLine>,
}

/// How many there are in the worst activations, and how many in the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleCounts {
    /// In the activations that the explanation lists.
    pub worst: u64,
    /// In all others, and between activations.
    pub others: u64,
}

/// A line of the program that took more time in the worst activations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrownLine {
    /// The line.
    pub location: SourceLocation,
    /// Its mean time in one of the worst activations.
    pub worst: Ns,
    /// Its mean time in one of the others.
    pub others: Ns,
}

impl CpuProfile {
    /// The mean CPU time per activation that so many samples stand for: in the worst, and in the others.
    pub fn mean(&self, counts: SampleCounts) -> (Ns, Ns) {
        let mean = |samples: u64, activations: u64| {
            let time = samples as f64 * self.period.0 as f64 / activations.max(1) as f64;
            Ns(time as i64)
        };
        (mean(counts.worst, self.activations.worst), mean(counts.others, self.activations.others))
    }

    /// How the time per activation differs: from -1, which is time in the other activations only, to 1, which is time in
    /// the worst only. Zero where it is equal, where chance explains the difference, and where there are no others.
    pub fn change(&self, counts: SampleCounts) -> f64 {
        let (worst, others) = (self.activations.worst as f64, self.activations.others as f64);
        if worst == 0.0 || others == 0.0 {
            return 0.0;
        }
        // If an activation is an activation, each sample falls into the worst with this probability.
        let share = worst / (worst + others);
        let samples = (counts.worst + counts.others) as f64;
        let deviation = (samples * share * (1.0 - share)).sqrt();
        if (counts.worst as f64 - samples * share).abs() <= DEVIATIONS * deviation {
            return 0.0;
        }
        let (worst, others) = (counts.worst as f64 / worst, counts.others as f64 / others);
        (worst - others) / (worst + others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(worst: u64, others: u64) -> SampleCounts {
        SampleCounts { worst, others }
    }

    #[test]
    fn a_change_is_per_activation_and_more_than_chance() {
        let profile =
            CpuProfile { activations: counts(10, 290), period: Ns::from_ms(1), ..CpuProfile::default() };
        for (what, worst, others, expected) in [
            ("only in the worst", 40, 0, 1.0),
            ("as much in each", 3, 87, 0.0),
            ("a little more, as chance has it", 6, 87, 0.0),
            ("nothing at all", 0, 0, 0.0),
            ("three times as much", 120, 1160, 0.5),
        ] {
            let change = profile.change(counts(worst, others));
            assert!((change - expected).abs() < 1e-9, "{what}: {change}");
        }
        assert!(profile.change(counts(0, 2900)) < -0.99, "missing in the worst");
        assert_eq!(profile.mean(counts(40, 29)), (Ns::from_ms(4), Ns::from_us(100)));
    }

    #[test]
    fn without_other_activations_there_is_no_comparison() {
        let profile = CpuProfile { activations: counts(4, 0), ..CpuProfile::default() };
        assert_eq!(profile.change(counts(40, 0)), 0.0);
    }
}
