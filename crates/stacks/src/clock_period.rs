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

/// On hardware an interrupt takes one or two microseconds; in a virtual machine often ten times as much, because the
/// hypervisor has a part in the timer and in the interrupt.
const CHEAP: Ns = Ns::from_us(5);

/// Between the cost of short periods and the lines that long ones miss. In a thread that sleeps each millisecond the timer is seldom
/// the first of its CPU then, so that it is seldom set as the thread is switched in.
const SPARSE: Ns = Ns::from_ms(10);

impl ClockPeriod {
    /// The interval where an interrupt takes so long, and whether it is longer than the one that was asked for. Where the cost
    /// is not known, nothing shows that it is high.
    pub(crate) fn with_interrupts_of(self, cost: Option<Ns>) -> (Ns, bool) {
        match self {
            ClockPeriod::AtLeast(least) if least < SPARSE && cost.is_some_and(|cost| cost > CHEAP) => {
                (SPARSE, true)
            }
            ClockPeriod::Exactly(period) | ClockPeriod::AtLeast(period) => (period, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_dear_interrupts_has_fewer_of_them() {
        let (one, two, ten) = (Ns::from_ms(1), Ns::from_ms(2), Ns::from_ms(10));
        let (cheap, dear) = (Some(Ns::from_us(2)), Some(Ns::from_us(18)));
        let long = Ns::from_ms(40);
        for (period, cost, expected) in [
            (ClockPeriod::AtLeast(one), cheap, (one, false)),
            (ClockPeriod::AtLeast(one), dear, (SPARSE, true)),
            (ClockPeriod::AtLeast(two), dear, (SPARSE, true)),
            (ClockPeriod::AtLeast(long), dear, (long, false)),
            (ClockPeriod::AtLeast(ten), None, (ten, false)),
            (ClockPeriod::Exactly(one), dear, (one, false)),
        ] {
            assert_eq!(period.with_interrupts_of(cost), expected, "{period:?} {cost:?}");
        }
    }
}
