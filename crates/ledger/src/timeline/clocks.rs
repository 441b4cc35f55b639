//! How a timer's clock relates to the trace clock.
//!
//! Every expiry gives a pair: the timer clock's reading and the trace time of the event. The pair
//! is a few microseconds off, for the event comes after the reading; and now and then it is far
//! off, where the trace clock stood (`local` is held within a tick of the last one while the TSC
//! is unstable, `kernel/sched/clock.c`). The median of the last pairs is neither. CLOCK_REALTIME is set now and then: then
//! the old pairs show nothing.

use std::collections::VecDeque;
use whylate_base::Ns;

/// The periods of the tick at 100, 250 and 1000 Hz, the longest first: what a clock counts by that has nothing finer
/// (`jiffy_sched_clock_read()`, `kernel/time/sched_clock.c`).
pub(crate) const TICKS: [Ns; 3] = [Ns::from_ms(10), Ns::from_ms(4), Ns::from_ms(1)];

/// Clock readings further apart than this are of different clocks (CLOCK_REALTIME and
/// CLOCK_MONOTONIC are decades apart).
const SAME_CLOCK: Ns = Ns::from_secs(1);
/// Pairs that make a median; at a tick of 4 ms they are recent enough for any drift.
const WINDOW: usize = 15;
/// The kernel's timers have four clocks, which may be set now and then; a damaged recording has any number.
const MOST_CLOCKS: usize = 64;
/// A clock that is set by less moves with the median.
const STEP: i64 = 1_000_000;
/// Fewer pairs than this are no median.
const ENOUGH: usize = 5;

/// What is known of the trace time of a clock's reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The reading came before the event, it is not known by how much.
    Before,
    /// They are some microseconds apart, by a trace clock that may stand.
    At,
    /// The same by a trace clock that does not.
    AtSteadily,
}

/// Offsets from timer clocks to the trace clock.
#[derive(Debug, Default)]
pub(crate) struct TimerClocks(Vec<Offsets>);

#[derive(Debug)]
struct Offsets {
    recent: VecDeque<i64>,
    median: i64,
}

impl TimerClocks {
    /// Takes in that a timer's clock read `now` at about trace time `at`; returns what to add to
    /// that clock's readings to have trace time.
    pub(crate) fn pair(&mut self, now: Ns, at: Ns, reading: Reading) -> Ns {
        let offset = (at - now).0;
        let offsets = match self.0.iter_mut().find(|offsets| offsets.is_near(offset)) {
            Some(offsets) => offsets,
            None => {
                if self.0.len() == MOST_CLOCKS {
                    self.0.remove(0);
                }
                self.0.push(Offsets { recent: VecDeque::new(), median: offset });
                let last = self.0.len() - 1;
                &mut self.0[last]
            }
        };
        let was_set = match reading {
            Reading::Before => false,
            // A trace clock that stood would be behind.
            Reading::At => offset - offsets.median >= STEP,
            Reading::AtSteadily => offset.abs_diff(offsets.median) >= STEP.unsigned_abs(),
        };
        if was_set {
            offsets.recent.clear();
        }
        if offsets.recent.len() == WINDOW {
            offsets.recent.pop_front();
        }
        offsets.recent.push_back(offset);
        let mut sorted: Vec<i64> = offsets.recent.iter().copied().collect();
        sorted.sort_unstable();
        offsets.median = sorted[sorted.len() / 2];
        if sorted.len() < ENOUGH { Ns(offset) } else { Ns(offsets.median) }
    }

    /// What to add to the readings of the clock that reads `now` at about trace time `at`.
    pub(crate) fn of(&self, now: Ns, at: Ns) -> Ns {
        let offset = (at - now).0;
        Ns(self.0.iter().find(|offsets| offsets.is_near(offset)).map_or(offset, |offsets| offsets.median))
    }
}

impl Offsets {
    fn is_near(&self, offset: i64) -> bool {
        self.median.abs_diff(offset) < SAME_CLOCK.0.unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stood_still_does_not_move_the_offset() {
        let mut clocks = TimerClocks::default();
        for tick in 0..20 {
            clocks.pair(Ns(4_000_000 * tick), Ns(4_000_000 * tick + 1_000), Reading::At);
        }
        assert_eq!(clocks.pair(Ns(90_000_000), Ns(78_000_000), Reading::At), Ns(1_000));
        let wall = 1_700_000_000_000_000_000;
        let other = clocks.pair(Ns(wall), Ns(94_000_000), Reading::At);
        assert_eq!(other, Ns(94_000_000 - wall), "another clock has its own");
    }

    #[test]
    fn a_clock_that_was_set_has_a_new_offset_at_once() {
        let after = |set_by: i64, reading: Reading| {
            let mut clocks = TimerClocks::default();
            for n in 0..20 {
                clocks.pair(Ns(10_000_000 * n), Ns(10_000_000 * n + 2_000), Reading::At);
            }
            clocks.pair(Ns(210_000_000 + set_by), Ns(210_003_000), reading)
        };
        let back = |reading| after(-40_000_000, reading);
        assert_eq!((back(Reading::At), back(Reading::AtSteadily)), (Ns(40_003_000), Ns(40_003_000)));
        assert_eq!(after(40_000_000, Reading::AtSteadily), Ns(-39_997_000));
        // The trace clock may have stood, or the event have come late.
        assert_eq!((after(40_000_000, Reading::At), back(Reading::Before)), (Ns(2_000), Ns(2_000)));
    }

    #[test]
    fn a_recording_of_nothing_but_strange_clocks_is_survived() {
        let mut clocks = TimerClocks::default();
        for n in 0..1_000 {
            let now = n * 10 * SAME_CLOCK.0;
            assert_eq!(clocks.pair(Ns(now), Ns(5), Reading::AtSteadily), Ns(5 - now));
        }
        assert_eq!(clocks.0.len(), MOST_CLOCKS);
    }
}
