//! How fine the clock is by which the scheduler counts time.
//!
//! The trace clock `local` is `sched_clock()`, by which the scheduler counts as well (`trace_clock_local`,
//! `kernel/trace/trace_clock.c`). Where it steps with the tick, a thread that runs in phase with the tick is charged
//! whole ticks; where it steps in microseconds, none is.

use crate::timeline::clocks::TICKS;
use whylate_base::Ns;

/// The fastest tick is 1 ms.
const SHORT: Ns = Ns::from_us(500);
/// So many short steps are no coincidence of a clock that is read twice around a tick.
const ENOUGH: u32 = 64;
/// Fewer stamps may be whole ticks by chance.
const FEWEST_STAMPS: u64 = 8;
/// Of a clock that counts ticks, most events have the time of the one before.
const STAMPS_PER_TICK: u64 = 4;

/// What the trace's time stamps show of it.
#[derive(Debug)]
pub(super) struct SchedulerClock {
    /// Short steps that are yet to be seen; `None` of a trace by another clock.
    missing: Option<u32>,
    /// How many stamps there were, and how many of them were later than the last one of their CPU.
    stamps: u64,
    moves: u64,
    /// Which of [`TICKS`] all stamps so far are multiples of.
    counts: [bool; TICKS.len()],
}

impl SchedulerClock {
    /// Of a trace by this clock; a trace that does not name its clock has the default, `local`.
    pub(super) fn of(clock: Option<&str>) -> SchedulerClock {
        let is_same = matches!(clock, None | Some("local" | "global" | "perf"));
        SchedulerClock {
            missing: is_same.then_some(ENOUGH),
            stamps: 0,
            moves: 0,
            counts: [true; TICKS.len()],
        }
    }

    /// True where further steps show nothing new.
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        matches!(self.missing, None | Some(0))
    }

    /// An event of a CPU at `at` follows another one after `step`; true once when the clock has been seen to be fine.
    #[inline]
    pub(super) fn steps(&mut self, at: Ns, step: Ns) -> bool {
        if self.counts != [false; TICKS.len()] {
            self.stamps += 1;
            self.moves += u64::from(step > Ns::ZERO);
            for (counts, tick) in self.counts.iter_mut().zip(TICKS) {
                *counts &= at.0 % tick.0 == 0;
            }
        }
        match &mut self.missing {
            Some(missing) if *missing > 0 && step > Ns::ZERO && step < SHORT => {
                *missing -= 1;
                *missing == 0
            }
            _ => false,
        }
    }

    /// The tick by which the clock counts, where it has nothing finer.
    pub(super) fn tick(&self) -> Option<Ns> {
        let coarse = self.stamps >= FEWEST_STAMPS && self.moves * STAMPS_PER_TICK <= self.stamps;
        let counts = || self.counts.iter().zip(TICKS).find(|(counts, _)| **counts);
        coarse.then(counts)?.map(|(_, tick)| tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_microseconds_show_a_fine_clock_and_ticks_do_not() {
        let fine = |clock: Option<&str>, step: Ns| {
            let mut clock = SchedulerClock::of(clock);
            (0..1_000).filter(|n| clock.steps(Ns(n * step.0), step)).count()
        };
        assert_eq!(fine(Some("local"), Ns::from_us(3)), 1);
        assert_eq!(fine(None, Ns::from_us(3)), 1);
        assert_eq!(fine(Some("local"), Ns::from_ms(1)), 0);
        assert_eq!(fine(Some("local"), Ns::ZERO), 0);
        assert_eq!(fine(Some("mono"), Ns::from_us(3)), 0);
    }

    #[test]
    fn a_clock_of_whole_ticks_is_known_by_its_stamps() {
        let tick = |stamps: &[Ns]| {
            let mut clock = SchedulerClock::of(None);
            let mut last = stamps[0];
            for &at in stamps {
                clock.steps(at, at - last);
                last = at;
            }
            clock.tick()
        };
        let at = |ms: i64| std::iter::repeat_n(Ns::from_ms(ms), 6);
        assert_eq!(tick(&at(30).chain(at(50)).collect::<Vec<_>>()), Some(Ns::from_ms(10)));
        assert_eq!(tick(&at(28).chain(at(32)).collect::<Vec<_>>()), Some(Ns::from_ms(4)));
        let fine = at(30).chain([Ns::from_us(30_004)]);
        assert_eq!(tick(&fine.collect::<Vec<_>>()), None);
        // Each event at a time of its own: events each second, and no coarse clock.
        assert_eq!(tick(&(1..20).map(|n| Ns::from_ms(n * 1_000)).collect::<Vec<_>>()), None);
    }
}
