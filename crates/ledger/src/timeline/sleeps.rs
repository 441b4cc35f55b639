//! What a thread sleeps for, and how it keeps its period.

use whylate_base::{Ns, Tid};

/// What a sleeping thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Its next period: a sleep with a time.
    Period,
    /// New input: a message, a signal, a condition.
    Input,
    /// A lock another thread holds; its owner where the kernel named it.
    Lock { owner: Option<Tid> },
    /// A device.
    Io,
    /// The stopper thread, to be moved to a CPU it may run on.
    Migration,
    /// A page to be read in.
    Fault,
    /// Sleeps, and no syscall was recorded that would tell why.
    Unsure,
}

impl Wait {
    /// True when the sleep is part of the activation: it waits for others in the middle of its work.
    pub(crate) fn continues(self) -> bool {
        matches!(self, Wait::Lock { .. } | Wait::Io | Wait::Fault | Wait::Migration)
    }
}

/// How a thread programs its sleeps: until an instant, or for a while from now.
///
/// Its system calls show it where they were recorded, and else its timers: a thread that sleeps
/// until `previous + period` moves the expiry by a constant; one that sleeps for a while moves
/// the distance from now to the expiry by nothing at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct SleepStyle {
    pub(crate) relative_calls: u32,
    pub(crate) absolute_calls: u32,
    last: Option<Programmed>,
    constant_distance: u32,
    constant_step: u32,
    compared: u32,
}

#[derive(Clone, Copy, Debug)]
struct Programmed {
    expires: Ns,
    distance: Ns,
    step: Option<Ns>,
}

impl SleepStyle {
    /// A sleep was programmed at `now` (trace clock) to end at `expires` (the timer's clock).
    pub(crate) fn program(&mut self, now: Ns, expires: Ns) {
        // The two clocks differ by a constant that is not known; so does each distance, alike.
        let distance = expires - now;
        let step = self.last.map(|last| expires - last.expires);
        if let Some(last) = self.last {
            let near = |a: Ns, b: Ns, tolerance: u64| (a - b).0.unsigned_abs() <= tolerance;
            self.compared += 1;
            if near(distance, last.distance, 20_000) {
                self.constant_distance += 1;
            }
            if let (Some(step), Some(last_step)) = (step, last.step)
                // A program adds the same period each time, to the nanosecond.
                && near(step, last_step, 1_000)
            {
                self.constant_step += 1;
            }
        }
        self.last = Some(Programmed { expires, distance, step });
    }

    /// True when the thread sleeps relative to now; `None` when that cannot be told.
    pub(crate) fn is_relative(&self) -> Option<bool> {
        if self.relative_calls + self.absolute_calls >= 5 {
            return Some(self.relative_calls > 4 * self.absolute_calls);
        }
        if self.compared < 10 {
            return None;
        }
        let share = |n: u32| f64::from(n) / f64::from(self.compared);
        match (share(self.constant_distance), share(self.constant_step)) {
            (distance, step) if distance > 0.9 && step < 0.5 => Some(true),
            (_, step) if step > 0.5 => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_are_told_apart_by_their_timers() {
        let mut absolute = SleepStyle::default();
        let mut relative = SleepStyle::default();
        let mut now = 0;
        for n in 0..20 {
            let jitter = (n * n * 7919) % 40_000;
            absolute.program(Ns(n * 10_000_000 + jitter), Ns(n * 10_000_000 + 10_000_000));
            now += 10_000_000 + jitter;
            relative.program(Ns(now), Ns(now + 10_000_000));
        }
        assert_eq!(absolute.is_relative(), Some(false));
        assert_eq!(relative.is_relative(), Some(true));
    }
}
