//! The places at which a kill can be tried: before and after each thing that changes anything on a disk or in the
//! kernel. Tests stop the engine, or the whole program, at each of them.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::rc::Rc;

/// Asked at each such place. By default it is open.
#[derive(Clone, Default)]
pub struct Gate(Option<Rc<dyn Fn() -> io::Result<()>>>);

impl Gate {
    /// A gate that asks this each time; an error ends what was under way there and then.
    pub fn new(ask: impl Fn() -> io::Result<()> + 'static) -> Gate {
        Gate(Some(Rc::new(ask)))
    }

    /// A gate that lets `passes` through and nothing afterwards: to its user the world has ended.
    pub fn closing_after(passes: u64) -> Gate {
        let left = Cell::new(passes);
        Gate::new(move || match left.get() {
            0 => Err(io::Error::other("killed")),
            n => {
                left.set(n - 1);
                Ok(())
            }
        })
    }

    /// Passes.
    ///
    /// # Errors
    /// If it is shut: nothing may be changed any more.
    pub fn pass(&self) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |ask| ask())
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Gate(watched)" } else { "Gate(open)" })
    }
}
