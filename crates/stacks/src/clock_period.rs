//! How often running threads are sampled.

use whylate_base::Ns;

/// The interval of the CPU clock of each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockPeriod {
    /// So long on every machine.
    Exactly(Ns),
    /// So long, or longer where a timer's interrupt takes much time; there the interrupts of other timers are sampled too.
    AtLeast(Ns),
}

/// 1 kHz, where interrupts are cheap.
pub const DEFAULT_PERIOD: ClockPeriod = ClockPeriod::AtLeast(Ns::from_ms(1));

/// A period of so many times what an interrupt takes does not make the 99th percentile of a thread's responses 5 % worse. An
/// interrupt is less than that in activations that take more than 20 times as long, and of those that take less it strikes fewer
/// than one in a hundred. On hardware an interrupt takes about a microsecond; in a virtual machine often ten times as much,
/// because the hypervisor has a part in the timer and in the interrupt.
const PERIOD_OF_COST: i64 = 20 * 100;

/// Fewer samples than twenty in a second of CPU time show too little of it, as in an emulated guest.
const LONGEST: Ns = Ns::from_ms(50);

impl ClockPeriod {
    /// The interval where an interrupt takes so long, in whole milliseconds, and whether it is longer than the one that was asked
    /// for. Where the cost is not known, nothing shows that it is high.
    pub(crate) fn with_interrupts_of(self, cost: Option<Ns>) -> (Ns, bool) {
        let (ClockPeriod::Exactly(asked) | ClockPeriod::AtLeast(asked)) = self;
        let times_cost = cost.map_or(0, |cost| cost.0.saturating_mul(PERIOD_OF_COST));
        let sparse = Ns::from_ms(times_cost / Ns::from_ms(1).0).min(LONGEST);
        match self {
            ClockPeriod::AtLeast(least) if least < sparse => (sparse, true),
            _ => (asked, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_dear_interrupts_has_fewer_of_them() {
        let [one, two, ten, long] = [1, 2, 10, 60].map(Ns::from_ms);
        let [cheap, dear] = [900, 18_300].map(|ns| Some(Ns(ns)));
        for (period, cost, expected) in [
            (ClockPeriod::AtLeast(one), cheap, (one, false)),
            (ClockPeriod::AtLeast(one), Some(Ns::from_us(5)), (ten, true)),
            (ClockPeriod::AtLeast(one), dear, (Ns::from_ms(36), true)),
            (ClockPeriod::AtLeast(two), dear, (Ns::from_ms(36), true)),
            (ClockPeriod::AtLeast(one), Some(Ns::from_us(100)), (LONGEST, true)),
            (ClockPeriod::AtLeast(long), dear, (long, false)),
            (ClockPeriod::AtLeast(ten), None, (ten, false)),
            (ClockPeriod::Exactly(one), dear, (one, false)),
        ] {
            assert_eq!(period.with_interrupts_of(cost), expected, "{period:?} {cost:?}");
        }
    }
}
