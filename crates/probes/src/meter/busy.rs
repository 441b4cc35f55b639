//! Spinning, to see when one does not.

use super::pace::{Meter, Pace};
use crate::sampler::Sampler;
use std::sync::atomic::Ordering::Relaxed;
use whylate_base::Ns;
use whylate_sys::{Clock, SysError};

/// How long it spins before it looks whether it is to stop.
const ROUND: Ns = Ns::from_ms(1);

pub(crate) struct Busy {
    gap: Ns,
    duty: u8,
    pace: Pace,
    /// How much of each interval it spins; `None`: all of it.
    spin: Option<Ns>,
    /// The last reading.
    last: Ns,
    /// When it sleeps next, where it does.
    spin_until: Ns,
}

impl Busy {
    /// Gaps of `gap` and more are samples; `duty` percent of each interval it spins.
    pub(crate) fn new(gap: Ns, duty: u8) -> Busy {
        Busy { gap, duty, pace: Pace::NONE, spin: None, last: Ns::ZERO, spin_until: Ns::ZERO }
    }

    /// Sleeps until the next interval, unless it is that far already.
    fn rest(&mut self, spin: Ns, sampler: &Sampler) -> Result<(), SysError> {
        let due = self.pace.due();
        sampler.recorder.due.store(due.0, Relaxed);
        whylate_sys::sleep_until(Clock::Monotonic, due)?;
        let woken = whylate_sys::now(Clock::Monotonic);
        self.pace.next(woken);
        // From the waking on, not from when it was due: a late one is to see a whole spell, and rest whole.
        self.spin_until = (woken + spin).min(self.pace.due() - (self.pace.interval - spin));
        self.last = whylate_sys::now(Clock::Monotonic);
        Ok(())
    }
}

impl Meter for Busy {
    fn start(&mut self, pace: Pace) -> Result<(), SysError> {
        self.pace = pace;
        self.spin = (self.duty < 100).then(|| Ns(pace.interval.0 / 100 * i64::from(self.duty)));
        self.spin_until = Ns::ZERO;
        self.last = whylate_sys::now(Clock::Monotonic);
        Ok(())
    }

    fn round(&mut self, sampler: &mut Sampler) -> Result<(), SysError> {
        if let Some(spin) = self.spin.filter(|_| self.last >= self.spin_until) {
            self.rest(spin, sampler)?;
        }
        let begun = self.last;
        let mut until = begun + ROUND;
        if self.spin.is_some() {
            until = until.min(self.spin_until);
        }
        sampler.recorder.due.store(begun.0, Relaxed);
        let (mut last, mut taken) = (begun, Ns::ZERO);
        while last < until {
            let now = whylate_sys::now(Clock::Monotonic);
            if now - last >= self.gap {
                sampler.sample(last, now);
                // What it took to take the sample is no gap.
                last = whylate_sys::now(Clock::Monotonic);
                taken += last - now;
                if sampler.is_over() {
                    break;
                }
            } else {
                last = now;
            }
        }
        self.last = last;
        sampler.recorder.watch(last - begun - taken);
        Ok(())
    }
}
