//! How a thread that sleeps from period to period spends the time between: does it wait for input there as well, in other calls?
//!
//! A fieldbus master sleeps until its next period, sends a request, and waits for the reply: that wait is in the middle of its
//! period. A server that pauses between requests sleeps and waits by turns just so, and the wait is what it is there for. What tells
//! them apart is which of the two takes longer as a rule.

use super::sleeps::Wait;
use whylate_base::Ns;

/// So many cycles show how a thread spends them.
const ENOUGH: u32 = 3;

/// From one sleep until the next period to the next one, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cycles {
    /// In this cycle.
    waited: Ns,
    cycles: u32,
    /// Those in which the sleep until the next period took longer than all waits for input.
    mostly_asleep: u32,
    /// Those in which it waited for input.
    with_waits: u32,
    /// It has waited for connections of others (accept(2)): its input are requests.
    pub(crate) serves: bool,
}

impl Cycles {
    /// The thread has slept so long.
    pub(crate) fn slept(&mut self, wait: Wait, length: Ns) {
        match wait {
            Wait::Period => {
                self.cycles = self.cycles.saturating_add(1);
                self.mostly_asleep += u32::from(length > self.waited);
                self.with_waits += u32::from(self.waited > Ns::ZERO);
                self.waited = Ns::ZERO;
            }
            Wait::Input | Wait::Reply { .. } => self.waited += length,
            _ => {}
        }
    }

    /// True of a thread for which its sleeps are the pauses, and not its waits for input.
    pub(crate) fn sleep_mostly(&self) -> bool {
        !self.serves
            && self.cycles >= ENOUGH
            && self.mostly_asleep.saturating_mul(3) >= self.cycles.saturating_mul(2)
    }

    /// True where such a thread also waits for input again and again: one that is made to pause does so once.
    pub(crate) fn await_replies(&self) -> bool {
        self.sleep_mostly() && self.with_waits >= ENOUGH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cycles: u32, slept_ms: i64, waited_ms: impl Fn(u32) -> i64) -> Cycles {
        let mut all = Cycles::default();
        for n in 0..cycles {
            if waited_ms(n) > 0 {
                all.slept(Wait::Input, Ns::from_ms(waited_ms(n)));
            }
            all.slept(Wait::Period, Ns::from_ms(slept_ms));
        }
        all
    }

    #[test]
    fn a_master_awaits_replies_and_a_server_that_pauses_does_not() {
        let usually_quick = of(12, 19, |n| if n % 5 == 4 { 40 } else { 1 });
        assert!(usually_quick.await_replies());
        let server = of(12, 1, |_| 9);
        assert!(!server.sleep_mostly() && !server.await_replies());
        let paused_once = of(12, 19, |n| if n == 7 { 5_000 } else { 0 });
        assert!(paused_once.sleep_mostly() && !paused_once.await_replies());
        assert!(!of(2, 19, |_| 1).sleep_mostly());
        let accepting = Cycles { serves: true, ..usually_quick };
        assert!(!accepting.sleep_mostly() && !accepting.await_replies());
    }
}
