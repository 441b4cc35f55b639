//! The period of a thread, from the instants at which its timer made it due.

use whylate_base::Ns;

/// Gaps that are looked at: the last ones.
const GAPS: usize = 64;
/// Fewer show no period.
const FEWEST: usize = 20;
/// A gap within this share of the period is one period long.
const TOLERANCE: f64 = 0.05;
/// So many of the gaps must be one period long, or several.
const REGULAR: f64 = 0.9;
/// A look at the gaps each so many.
const LOOK_EVERY: u32 = 16;

/// What is known of one thread's period.
#[derive(Clone, Debug, Default)]
pub(super) struct PeriodTracker {
    last: Option<Ns>,
    gaps: Vec<Ns>,
    next: usize,
    until_look: u32,
    period: Option<Ns>,
}

impl PeriodTracker {
    /// Takes in an instant at which a timer made the thread due.
    pub(super) fn due(&mut self, due: Ns) {
        let Some(gap) = self.last.replace(due).map(|last| due - last).filter(|&gap| gap > Ns::ZERO) else {
            return;
        };
        match self.gaps.len() < GAPS {
            true => self.gaps.push(gap),
            false => self.gaps[self.next] = gap,
        }
        self.next = (self.next + 1) % GAPS;
        self.until_look = self.until_look.saturating_sub(1);
        if self.gaps.len() >= FEWEST && self.until_look == 0 {
            self.until_look = LOOK_EVERY;
            self.period = period(&self.gaps);
        }
    }

    /// The period; `None`: there is none, or it is not known yet.
    pub(super) fn period(&self) -> Option<Ns> {
        self.period
    }
}

fn period(gaps: &[Ns]) -> Option<Ns> {
    let mut sorted = gaps.to_vec();
    sorted.sort_unstable();
    let median = sorted[sorted.len() / 2].0 as f64;
    let periods = |gap: &Ns| (gap.0 as f64 / median).round().max(1.0);
    let is_regular = |gap: &&Ns| (gap.0 as f64 - periods(gap) * median).abs() <= TOLERANCE * median;
    let regular = gaps.iter().filter(is_regular).count();
    (regular as f64 >= REGULAR * gaps.len() as f64).then_some(Ns(median as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(gaps: impl IntoIterator<Item = i64>) -> Option<Ns> {
        let mut tracker = PeriodTracker::default();
        let mut at = 0;
        tracker.due(Ns(0));
        for gap in gaps {
            at += gap;
            tracker.due(Ns(at));
        }
        tracker.period()
    }

    #[test]
    fn a_period_is_what_most_gaps_are() {
        assert_eq!(of((0..40).map(|_| 1_000_000)), Some(Ns::from_ms(1)));
        assert_eq!(of((0..10).map(|_| 1_000_000)), None, "too few");
        let skipped = of((0..60).map(|n| if n % 10 == 9 { 3_000_000 } else { 1_000_000 + n % 3 * 1_000 }));
        assert!(skipped.is_some_and(|period| (period.0 - 1_000_000).abs() < 5_000), "{skipped:?}");
        assert_eq!(of((0..60).map(|n| 1_000_000 + n % 7 * 300_000)), None, "no period");
    }

    #[test]
    fn a_thread_that_changes_its_period_is_followed() {
        let gaps = (0..100).map(|_| 1_000_000).chain((0..100).map(|_| 4_000_000));
        assert_eq!(of(gaps), Some(Ns::from_ms(4)));
    }
}
