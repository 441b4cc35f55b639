//! Faults that tests choose.

use rustix::process::{Signal, getpid, kill_process};
use std::cell::Cell;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kills this process with SIGKILL at its Nth place where anything changes.
const KILL_AT: &str = "WHYLATE_KILL_AT";

/// Asked at each place where anything changes; by default there are no faults.
#[derive(Clone, Default)]
pub struct FaultInjector(Option<Rc<dyn Fn() -> io::Result<()>>>);

impl FaultInjector {
    /// Asks this at each place; an error interrupts there.
    pub fn new(ask: impl Fn() -> io::Result<()> + 'static) -> FaultInjector {
        FaultInjector(Some(Rc::new(ask)))
    }

    /// Lets `places` succeed and nothing afterwards: to its user the machine has stopped.
    pub fn failing_after(places: u64) -> FaultInjector {
        let left = Cell::new(places);
        FaultInjector::new(move || match left.get() {
            0 => Err(io::Error::other("killed")),
            n => {
                left.set(n - 1);
                Ok(())
            }
        })
    }

    /// Kills this process at the place that the variable `WHYLATE_KILL_AT` names; without it there are no faults. All
    /// such injectors of a process count together.
    ///
    /// # Panics
    /// If the variable does not hold a number.
    pub fn from_environment() -> FaultInjector {
        static PASSED: AtomicU64 = AtomicU64::new(0);
        let Some(place) = std::env::var_os(KILL_AT) else { return FaultInjector::default() };
        let place: u64 = place.to_str().and_then(|place| place.parse().ok()).expect("WHYLATE_KILL_AT=N");
        FaultInjector::new(move || match PASSED.fetch_add(1, Ordering::Relaxed) + 1 >= place {
            // The signal is delivered before the call returns.
            true => Ok(kill_process(getpid(), Signal::KILL)?),
            false => Ok(()),
        })
    }

    /// Passes one place.
    ///
    /// # Errors
    /// If the fault is here: nothing may be changed any more.
    pub fn check(&self) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |ask| ask())
    }
}

impl fmt::Debug for FaultInjector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "FaultInjector(armed)" } else { "FaultInjector(none)" })
    }
}
