//! What all meters have in common: rounds at a pace.

use crate::sampler::Sampler;
use whylate_base::Ns;
use whylate_sys::SysError;

/// One kind's way to measure. It is made, started twice (to warm up, to measure) and used in its measuring thread.
pub(crate) trait Meter {
    /// Rounds from now on are at this pace.
    fn start(&mut self, pace: Pace) -> Result<(), SysError>;

    /// Waits for the next sample and takes it; returns within an interval, or a little more where it is late. Nothing in
    /// here may allocate, lock, log, or touch memory that it did not touch in the warm-up.
    fn round(&mut self, sampler: &mut Sampler) -> Result<(), SysError>;
}

/// When rounds are due.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) first: Ns,
    pub(crate) interval: Ns,
    /// What is measured counts nowhere.
    pub(crate) warm_up: bool,
}

impl Pace {
    /// None yet; `start` comes before the first round.
    pub(super) const NONE: Pace = Pace { first: Ns::ZERO, interval: Ns(1), warm_up: true };

    /// The period that is due next.
    pub(super) fn due(&self) -> Ns {
        self.first
    }

    /// That period ended now; gives how many further ones have passed with it.
    pub(super) fn next(&mut self, now: Ns) -> i64 {
        let passed = (now - self.first).0.max(0) / self.interval.0.max(1);
        self.skip(passed.saturating_add(1));
        passed
    }

    /// So many periods are over.
    pub(super) fn skip(&mut self, periods: i64) {
        self.first += Ns(self.interval.0.saturating_mul(periods));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_that_passed_are_skipped_and_counted() {
        let mut pace = Pace { first: Ns(1_000), interval: Ns(100), warm_up: false };
        assert_eq!((pace.next(Ns(1_040)), pace.due()), (0, Ns(1_100)));
        assert_eq!((pace.next(Ns(1_350)), pace.due()), (2, Ns(1_400)));
        assert_eq!(
            (pace.next(Ns(1_390)), pace.due()),
            (0, Ns(1_500)),
            "a clock that was read before it was due"
        );
    }
}
