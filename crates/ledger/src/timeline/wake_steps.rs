//! Wake-ups by interrupts and timers that follow each other by a period: which of those instants a thread slept through.
//!
//! Where neither its system calls nor its timers are recorded, that is what shows that a thread waited for something else in the
//! middle of a period: another thread lets it go on, and the next interrupt comes where one of the instants is again.
//!
//! ```text
//! woken by its timer:  0   10   20                  50   60
//! asleep:                           |<-------->| until a thread woke it
//! ```

use whylate_base::{Ns, Tid};

/// So many even steps, and so many for each other one, are a period.
const ENOUGH: u32 = 20;
const MOSTLY: u32 = 9;
/// Steps that differ by this part of the period, or by this time, are even.
const PART_OF_PERIOD: i64 = 20;
const SAME_STEP: Ns = Ns::from_us(100);

/// The wake-ups of a thread, in numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct WakeSteps {
    last: Option<Ns>,
    period: Ns,
    even: u32,
    uneven: u32,
    /// The longest sleep since the last wake-up by a timer that something else ended.
    other: Option<OtherSleep>,
    longest: Option<SleptThrough>,
    times: u32,
}

/// A sleep that neither an interrupt nor a timer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OtherSleep {
    pub(crate) from: Ns,
    pub(crate) to: Ns,
    /// The thread that ended it, if one did.
    pub(crate) by: Option<Tid>,
}

/// What a thread slept through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SleptThrough {
    pub(crate) sleep: OtherSleep,
    pub(crate) period: Ns,
    /// How many instants.
    pub(crate) periods: u32,
}

impl WakeSteps {
    /// Something other than a timer ended a sleep of the thread.
    pub(crate) fn by_another(&mut self, sleep: OtherSleep) {
        let is_longer = |other: OtherSleep| sleep.to - sleep.from > other.to - other.from;
        if self.other.is_none_or(is_longer) {
            self.other = Some(sleep);
        }
    }

    /// An interrupt or a timer woke the thread.
    pub(crate) fn by_timer(&mut self, at: Ns) {
        let other = self.other.take();
        let Some(last) = self.last.replace(at) else { return };
        let (step, period) = (at - last, self.period);
        let allowed = SAME_STEP.max(Ns(period.0 / PART_OF_PERIOD));
        let is_near = |step: Ns, expected: Ns| Ns((step - expected).0.saturating_abs()) <= allowed;
        if period > SAME_STEP && is_near(step, period) {
            self.even = self.even.saturating_add(1);
            // Towards the mean: each wake-up is late by some microseconds.
            self.period = period + Ns((step - period).0 / i64::from(self.even.min(ENOUGH)));
            return;
        }
        let steps = if period > SAME_STEP { (step.0 + period.0 / 2) / period.0 } else { 0 };
        let is_on_one = steps >= 2 && is_near(step, Ns(period.0 * steps));
        if let Some(sleep) = other.filter(|_| is_on_one && self.has_period()) {
            let instants = (1..steps).map(|n| last + Ns(period.0 * n));
            let slept =
                instants.filter(|&instant| sleep.from < instant - allowed && instant + allowed < sleep.to);
            let periods = u32::try_from(slept.count()).unwrap_or(u32::MAX);
            if periods > 0 {
                self.times += 1;
                let is_longer = |longest: SleptThrough| longest.periods < periods;
                if self.longest.is_none_or(is_longer) {
                    self.longest = Some(SleptThrough { sleep, period, periods });
                }
                return;
            }
        }
        self.uneven = self.uneven.saturating_add(1);
        if self.even <= self.uneven {
            (self.period, self.even, self.uneven) = (step, 0, 0);
        }
    }

    fn has_period(&self) -> bool {
        self.even >= ENOUGH && self.even / MOSTLY >= self.uneven
    }

    /// Where it slept through the most instants at once, and how often it slept through any; nothing without a period to the end.
    pub(crate) fn slept_through(&self) -> Option<(SleptThrough, u32)> {
        self.longest.filter(|_| self.has_period()).map(|longest| (longest, self.times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forty periods of 10 ms; in the thirtieth it sleeps for `slept` ms until another thread wakes it, and is woken by its timer
    /// again at `next` ms after that period began.
    fn woken(slept: i64, next: i64) -> Option<(SleptThrough, u32)> {
        let mut steps = WakeSteps::default();
        let mut at = Ns::from_ms(7);
        for n in 0..40 {
            steps.by_timer(at + Ns::from_us(n % 3 * 20));
            if n == 30 {
                let (from, to) = (at + Ns::from_ms(1), at + Ns::from_ms(1 + slept));
                steps.by_another(OtherSleep { from, to, by: Some(Tid(7)) });
            }
            at += Ns::from_ms(if n == 30 { next } else { 10 });
        }
        steps.slept_through()
    }

    #[test]
    fn a_sleep_past_instants_that_ends_between_them_sleeps_through() {
        let (longest, times) = woken(25, 30).expect("slept through");
        assert_eq!((longest.periods, times), (2, 1));
        assert!((longest.period - Ns::from_ms(10)).0.abs() < 10_000, "{longest:?}");
        assert_eq!(longest.sleep.by, Some(Tid(7)));
    }

    #[test]
    fn a_short_sleep_and_a_timer_that_is_set_anew_sleep_through_nothing() {
        // It had the next instants off, awake or not.
        assert_eq!(woken(5, 30), None);
        // Its timer was set when it was done.
        assert_eq!(woken(25, 36), None);
    }

    #[test]
    fn without_a_period_nothing_is_slept_through() {
        let mut steps = WakeSteps::default();
        let mut at = Ns::ZERO;
        for n in 0..60 {
            steps.by_timer(at);
            steps.by_another(OtherSleep { from: at, to: at + Ns::from_ms(15), by: None });
            at += Ns::from_ms(if n % 4 == 0 { 20 } else { 10 });
        }
        assert_eq!(steps.slept_through(), None);
    }
}
