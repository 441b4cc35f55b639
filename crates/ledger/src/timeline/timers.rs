//! Timers: those that are armed, and those that fired.

use super::slew::Slew;
use rustc_hash::FxHashMap;
use whylate_base::{Ns, Tid};
use whylate_events::Symbol;

/// Timers that are armed at the address of one that never fired replace it; the others are many only where
/// their ends were not recorded, and one that was armed long ago may as well have been stopped.
const MANY_TIMERS: usize = 1 << 16;
const LONG_AGO: Ns = Ns::from_secs(60);

/// A timer that has not expired yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArmedTimer {
    pub(crate) softexpires: Ns,
    pub(crate) expires: Ns,
    /// When it was armed, on the trace clock.
    pub(crate) armed: Ns,
    /// The thread that armed it, where no interrupt did.
    pub(crate) by: Option<Tid>,
}

/// The armed timers, by address.
#[derive(Debug, Default)]
pub(crate) struct ArmedTimers(FxHashMap<u64, ArmedTimer>);

/// The tick of a CPU: when the next one is due, and the period as far as it was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    pub(crate) hrtimer: u64,
    pub(crate) due: Ns,
    pub(crate) period: Ns,
}

impl ArmedTimers {
    /// Returns what it was armed for until now.
    pub(crate) fn arm(&mut self, hrtimer: u64, timer: ArmedTimer) -> Option<ArmedTimer> {
        self.0.insert(hrtimer, timer)
    }

    /// It expired or was cancelled.
    pub(crate) fn disarm(&mut self, hrtimer: u64) -> Option<ArmedTimer> {
        self.0.remove(&hrtimer)
    }

    /// Forgets those that were armed long before `horizon`, where they are many.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        if self.0.len() > MANY_TIMERS {
            self.0.retain(|_, timer| timer.armed >= horizon - LONG_AGO);
        }
    }
}

/// A timer that fired on a CPU: from its expiry to the moment the interrupt looked for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateTimer {
    pub(crate) due: Ns,
    pub(crate) handled: Ns,
    /// Where the time without any event on its CPU begins in which it became due; `due` itself where there were events.
    pub(crate) silent_since: Ns,
    /// Whether the thread that ran was in the kernel, where interrupts can be disabled.
    pub(crate) in_kernel: Option<bool>,
    /// A clock that runs faster than the timer hardware made it late.
    pub(crate) slew: Option<Slew>,
}

/// The timer callback that is running on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Firing {
    pub(crate) due: Ns,
    /// Expiry plus slack, for a timer that has slack.
    pub(crate) hard_due: Ns,
}

/// A timer's callback that ran on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callback {
    pub(crate) start: Ns,
    /// `None` while it runs, and where its end was not seen.
    pub(crate) end: Option<Ns>,
    /// Its name, where the recording has names.
    pub(crate) function: Symbol,
    pub(crate) armed_by: Option<Tid>,
}
