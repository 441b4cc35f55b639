//! How fine the clock is by which the scheduler counts time.
//!
//! The trace clock `local` is `sched_clock()`, by which the scheduler counts as well (`trace_clock_local`,
//! `kernel/trace/trace_clock.c`). Where it steps with the tick, a thread that runs in phase with the tick is charged
//! whole ticks; where it steps in microseconds, none is.

use whylate_base::Ns;

/// The fastest tick is 1 ms.
const SHORT: Ns = Ns::from_us(500);
/// So many short steps are no coincidence of a clock that is read twice around a tick.
const ENOUGH: u32 = 64;

/// What the trace's time stamps show of it.
#[derive(Debug)]
pub(super) struct SchedulerClock {
    /// Short steps that are yet to be seen; `None` of a trace by another clock.
    missing: Option<u32>,
}

impl SchedulerClock {
    /// Of a trace by this clock; a trace that does not name its clock has the default, `local`.
    pub(super) fn of(clock: Option<&str>) -> SchedulerClock {
        let is_same = matches!(clock, None | Some("local" | "global" | "perf"));
        SchedulerClock { missing: is_same.then_some(ENOUGH) }
    }

    /// True where further steps show nothing new.
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        matches!(self.missing, None | Some(0))
    }

    /// Two events of a CPU follow one another after `step`; true once when the clock has been seen to be fine.
    #[inline]
    pub(super) fn steps(&mut self, step: Ns) -> bool {
        match &mut self.missing {
            Some(missing) if *missing > 0 && step > Ns::ZERO && step < SHORT => {
                *missing -= 1;
                *missing == 0
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_microseconds_show_a_fine_clock_and_ticks_do_not() {
        let fine = |clock: Option<&str>, step: Ns| {
            let mut clock = SchedulerClock::of(clock);
            (0..1_000).filter(|_| clock.steps(step)).count()
        };
        assert_eq!(fine(Some("local"), Ns::from_us(3)), 1);
        assert_eq!(fine(None, Ns::from_us(3)), 1);
        assert_eq!(fine(Some("local"), Ns::from_ms(1)), 0);
        assert_eq!(fine(Some("local"), Ns::ZERO), 0);
        assert_eq!(fine(Some("mono"), Ns::from_us(3)), 0);
    }
}
