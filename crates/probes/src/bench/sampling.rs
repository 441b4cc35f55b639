//! How many operations a sample needs, so that the clock's own cost and resolution are small beside it.

use super::BenchError;
use super::case::Case;
use whylate_base::Ns;
use whylate_sys::{Clock, now};

/// A sample is at least so many times as long as the clock's cost and resolution.
const TIMES: i64 = 20;

/// What measuring with CLOCK_MONOTONIC costs, with the clock source in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockCost {
    /// From one reading to the next, in the middle of many.
    pub(super) cost: Ns,
    /// The smallest step.
    pub(super) resolution: Ns,
}

impl ClockCost {
    pub(super) fn measure() -> ClockCost {
        const READINGS: usize = 1_001;
        let mut steps = Vec::with_capacity(READINGS);
        let mut last = now(Clock::Monotonic);
        while steps.len() < READINGS {
            let next = now(Clock::Monotonic);
            steps.push(next - last);
            last = next;
        }
        steps.sort_unstable();
        // A clock of some milliseconds' resolution may not have moved at all.
        let resolution = steps.iter().copied().find(|step| *step > Ns::ZERO).unwrap_or(Ns::from_ms(10));
        ClockCost { cost: steps[READINGS / 2], resolution }
    }

    /// The shortest sample.
    fn shortest(self) -> Ns {
        Ns(TIMES * self.cost.max(self.resolution).0)
    }
}

/// How a case is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sampling {
    pub(super) operations: u32,
    /// Subtracted from each sample.
    pub(super) clock_cost: Ns,
    /// A sample takes so little time that one more does not matter.
    pub(super) is_short: bool,
}

/// Finds the number of operations. Performs the case some times.
pub(super) fn calibrate(case: &mut Case<'_>, clock: ClockCost) -> Result<Sampling, BenchError> {
    let shortest = clock.shortest();
    let mut operations = case.least;
    loop {
        let mut took = [Ns::ZERO; 3];
        for one in &mut took {
            *one = (case.perform)(operations)?;
            if *one > Ns::from_ms(50) {
                // Slow enough by itself: more of it would cost the time of other cases.
                return Ok(Sampling { operations, clock_cost: clock.cost, is_short: false });
            }
        }
        took.sort_unstable();
        let median = took[1];
        if median >= shortest || operations >= case.most {
            return Ok(Sampling { operations, clock_cost: clock.cost, is_short: median < Ns::from_ms(1) });
        }
        let needed = shortest.0 * i64::from(operations) / median.0.max(1) + 1;
        let next = needed.clamp(i64::from(operations) + 1, i64::from(operations) * 8);
        operations = u32::try_from(next).unwrap_or(u32::MAX).min(case.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_long_enough_and_no_longer_than_allowed() {
        let clock = ClockCost { cost: Ns(50), resolution: Ns(20) };
        for (each, most, least_operations) in [(10, 1 << 20, 100), (10, 64, 64), (5_000, 1 << 20, 1)] {
            let mut case = Case::new("g", "n", move |n| Ok(Ns(i64::from(n) * each))).at_most(most);
            let sampling = calibrate(&mut case, clock).expect("no failure");
            assert!(sampling.operations >= least_operations && sampling.operations <= most, "{sampling:?}");
            assert!(
                sampling.operations == most || i64::from(sampling.operations) * each >= 1_000,
                "{sampling:?}"
            );
        }
    }

    #[test]
    fn a_coarse_clock_makes_samples_long() {
        let clock = ClockCost { cost: Ns(10), resolution: Ns::from_ms(4) };
        assert_eq!(clock.shortest(), Ns::from_ms(80));
        assert!(ClockCost::measure().resolution > Ns::ZERO);
    }
}
