//! Short windows at the highest priority, to see what takes the CPU away though the kernel did nothing with it.
//!
//! A program cannot disable interrupts, as the kernel's hwlat tracer does. So it counts them: a window in which the CPU
//! had one, or a switch, shows nothing about the hardware and is left out.

use super::interrupts::Interrupts;
use super::pace::{Meter, Pace};
use crate::sampler::Sampler;
use std::sync::atomic::Ordering::Relaxed;
use whylate_base::Ns;
use whylate_sys::{Clock, SysError, Usage};

pub(crate) struct Hwlat {
    width: Ns,
    /// `None`: they cannot be counted, and every window is a sample.
    interrupts: Option<Interrupts>,
    pace: Pace,
    chance: u64,
}

/// What had happened on the CPU so far; two that are the same have nothing between them.
#[derive(PartialEq, Eq)]
struct Happened {
    interrupts: u64,
    switches: u64,
}

/// The longest gap of a window.
struct Longest {
    from: Ns,
    to: Ns,
}

impl Hwlat {
    pub(crate) fn new(width: Ns, interrupts: Option<Interrupts>) -> Hwlat {
        Hwlat { width, interrupts, pace: Pace::NONE, chance: 1 }
    }

    fn happened(&mut self) -> Result<Happened, SysError> {
        let Usage { voluntary_switches, involuntary_switches, .. } = whylate_sys::thread_usage()?;
        // Counts that cannot be read now, though they could before: as if nothing had happened.
        let cpu = whylate_sys::current_cpu();
        let interrupts = self.interrupts.as_mut().and_then(|all| all.count(cpu)).unwrap_or(0);
        Ok(Happened { interrupts, switches: voluntary_switches + involuntary_switches })
    }

    /// Somewhere in the first part of the interval, another time each time: a window in step with what it looks for (a
    /// hypervisor's tick) would see it always or never. By a xorshift generator (G. Marsaglia, 2003).
    fn offset(&mut self) -> Ns {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        let room = (self.pace.interval - self.width).0.max(2) / 2;
        Ns((self.chance % room.unsigned_abs()) as i64)
    }

    fn window(&self) -> Longest {
        let mut last = whylate_sys::now(Clock::Monotonic);
        let until = last + self.width;
        let mut longest = Longest { from: last, to: last };
        while last < until {
            let now = whylate_sys::now(Clock::Monotonic);
            if now - last > longest.to - longest.from {
                longest = Longest { from: last, to: now };
            }
            last = now;
        }
        longest
    }
}

impl Meter for Hwlat {
    fn start(&mut self, pace: Pace) -> Result<(), SysError> {
        self.pace = pace;
        // Its bits are many, and never all zero.
        self.chance = pace.first.0.unsigned_abs() | 1;
        Ok(())
    }

    fn round(&mut self, sampler: &mut Sampler) -> Result<(), SysError> {
        let due = self.pace.due() + self.offset();
        sampler.recorder.due.store(due.0, Relaxed);
        whylate_sys::sleep_until(Clock::Monotonic, due)?;
        let before = self.happened()?;
        let longest = self.window();
        if self.happened()? == before {
            sampler.recorder.watch(self.width);
            sampler.sample(longest.from, longest.to);
        } else {
            sampler.recorder.spoil();
        }
        sampler.recorder.miss(self.pace.next(whylate_sys::now(Clock::Monotonic)));
        Ok(())
    }
}
