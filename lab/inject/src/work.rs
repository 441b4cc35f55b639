//! CPU time on demand, without system calls that would fill a trace.

use std::hint::black_box;
use whylate_base::Ns;
use whylate_sys::{Clock, now};

/// A calibrated loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spin {
    turns_per_us: u64,
}

impl Spin {
    /// Measures the loop for some milliseconds and takes the fastest run, so that an
    /// interruption does not count.
    pub(crate) fn calibrate() -> Spin {
        const TURNS: u64 = 20_000;
        let fastest = (0..40)
            .map(|_| {
                let before = now(Clock::Monotonic);
                turn(TURNS);
                now(Clock::Monotonic).since(before).0.max(1)
            })
            .min()
            .unwrap_or(1);
        Spin { turns_per_us: (TURNS * 1_000 / fastest.unsigned_abs()).max(1) }
    }

    /// Uses about `time` of CPU, however often it is preempted.
    pub(crate) fn work(self, time: Ns) {
        turn(self.turns_per_us.saturating_mul(time.0.max(0).unsigned_abs() / 100) / 10);
    }

    /// Uses the CPU until the clock shows `until`.
    pub(crate) fn work_until(self, until: Ns) {
        while now(Clock::Monotonic) < until {
            self.work(Ns::from_us(20));
        }
    }
}

fn turn(times: u64) {
    for i in 0..times {
        black_box(i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_no_less_than_asked_of_the_clock() {
        let spin = Spin::calibrate();
        let until = now(Clock::Monotonic) + Ns::from_ms(2);
        spin.work_until(until);
        assert!(now(Clock::Monotonic) >= until);
    }
}
