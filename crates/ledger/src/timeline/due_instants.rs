//! The instants until which a thread sleeps, where they follow each other by a period: which periods it left out.
//!
//! ```text
//! due instants:  0   20   40   60                        180  200
//! the job of 60:           |<----- 100 ms ----->| next sleep: until 180
//! ```

use whylate_base::Ns;

/// Instants that a program computes from a clock that it has read vary by so much.
const SAME_STEP: Ns = Ns::from_us(20);
/// So many equal steps in a row are a period.
const ENOUGH: u32 = 3;

/// The sleeps of a thread until an instant (`clock_nanosleep(2)` with `TIMER_ABSTIME`).
#[derive(Clone, Debug, Default)]
pub(crate) struct DueInstants {
    last: Option<Ns>,
    period: Option<Ns>,
    /// Steps in a row that were as long as the period.
    same: u32,
    longest: Option<LeftOut>,
    times: u32,
}

/// A job behind which periods were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// When it was due.
    pub(crate) due: Ns,
    /// From then to the next sleep until an instant.
    pub(crate) took: Ns,
    pub(crate) period: Ns,
    /// How many of them.
    pub(crate) periods: i64,
}

impl DueInstants {
    /// A sleep until `expires` was programmed at `now`, both of one clock.
    pub(crate) fn program(&mut self, now: Ns, expires: Ns) {
        let Some(last) = self.last.replace(expires) else { return };
        let step = expires - last;
        if step == Ns::ZERO {
            // A signal interrupted the sleep, which goes on.
            return;
        }
        let Some(period) = self.period.filter(|&period| period > SAME_STEP) else {
            (self.period, self.same) = (Some(step), 1);
            return;
        };
        if is_near(step, period) {
            self.same += 1;
            return;
        }
        let steps = (step.0.saturating_add(period.0 / 2)) / period.0;
        // A program that changes its period does so before the next instant.
        let had_passed = now - last > period;
        if self.same >= ENOUGH
            && steps >= 2
            && is_near(step, Ns(period.0.saturating_mul(steps)))
            && had_passed
        {
            let left_out = LeftOut { due: last, took: now - last, period, periods: steps - 1 };
            self.times += 1;
            if self.longest.is_none_or(|longest| longest.took < left_out.took) {
                self.longest = Some(left_out);
            }
            return;
        }
        (self.period, self.same) = (Some(step), 1);
    }

    /// The longest job behind which it left out periods, and how many such jobs there were.
    pub(crate) fn left_out(&self) -> Option<(LeftOut, u32)> {
        self.longest.map(|longest| (longest, self.times))
    }
}

fn is_near(step: Ns, expected: Ns) -> bool {
    (step.0.saturating_sub(expected.0)).saturating_abs() <= SAME_STEP.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten periods of 20 ms; before the sixth sleep the thread works until `until` (ms), and then sleeps until `next`.
    fn slept(until: i64, next: i64) -> Option<(LeftOut, u32)> {
        let mut instants = DueInstants::default();
        let mut due = Ns::ZERO;
        for period in 0..10 {
            let (now, to) = match period {
                6 => (Ns::from_ms(until), Ns::from_ms(next)),
                _ => (due + Ns::from_us(50), due + Ns::from_ms(20)),
            };
            instants.program(now, to);
            due = to;
        }
        instants.left_out()
    }

    #[test]
    fn instants_that_jump_by_whole_periods_leave_some_out() {
        let (longest, times) = slept(221, 240).expect("left out");
        assert_eq!((longest.periods, times), (5, 1));
        assert_eq!((longest.due, longest.took), (Ns::from_ms(120), Ns::from_ms(101)));
    }

    /// A signal that stops the thread, or that it ignores, interrupts its sleep.
    #[test]
    fn a_sleep_that_goes_on_is_no_other_instant() {
        let mut instants = DueInstants::default();
        for period in 0..6 {
            let due = Ns::from_ms(20 * (period + 1));
            instants.program(due - Ns::from_ms(19), due);
            instants.program(due - Ns::from_ms(10), due);
        }
        instants.program(Ns::from_ms(201), Ns::from_ms(220));
        assert_eq!(instants.left_out().map(|(longest, times)| (longest.periods, times)), Some((4, 1)));
    }

    #[test]
    fn a_plan_that_changes_and_one_that_catches_up_leave_nothing_out() {
        // It slept for longer from the beginning.
        assert_eq!(slept(121, 240), None);
        assert_eq!(slept(221, 140), None);
        // Another period from there on.
        assert_eq!(slept(145, 153), None);
    }
}
