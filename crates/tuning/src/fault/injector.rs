//! Faults that tests choose.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::rc::Rc;

/// Asked at each place where anything changes; by default there are no faults.
#[derive(Clone, Default)]
pub struct FaultInjector(Option<Rc<dyn Fn() -> io::Result<()>>>);

impl FaultInjector {
    /// No faults.
    pub fn none() -> FaultInjector {
        FaultInjector::default()
    }

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
