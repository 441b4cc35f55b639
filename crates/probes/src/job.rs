//! What a measuring thread measures, and how its meter is made.

use crate::meter::{Busy, Deadline, Hwlat, Interrupts, Link, Meter, Woken, make_timer};
use crate::timerlat::{Interface, Waiting};
use crate::warm_up::{WARM_UP, timerlat_warm_up};
use crate::{ProbeKind, Timer};
use std::sync::Arc;
use whylate_base::{Cpu, Ns};
use whylate_sys::SysError;

/// What one thread measures, and with what it was made beforehand.
pub(crate) enum Job {
    Timer(Timer),
    Busy { gap: Ns, duty: u8 },
    Ipc(Arc<Link>),
    Deadline { runtime: Ns, deadline: Option<Ns> },
    Hwlat { width: Ns },
    Timerlat { interface: Arc<Interface>, cpu: Cpu },
}

impl Job {
    /// That of one more thread. `duty` is how much of its time a busy one spins, in percent. None of timerlat, which
    /// gives its threads their jobs itself, or has the kernel's.
    pub(crate) fn new(kind: &ProbeKind, duty: u8) -> Result<Option<Job>, SysError> {
        Ok(Some(match *kind {
            ProbeKind::Timer(timer) => Job::Timer(timer),
            ProbeKind::Busy { gap, .. } => Job::Busy { gap, duty },
            ProbeKind::Ipc { by, .. } => Job::Ipc(Arc::new(Link::open(by)?)),
            ProbeKind::Deadline { runtime, deadline } => Job::Deadline { runtime, deadline },
            ProbeKind::Hwlat { width } => Job::Hwlat { width },
            ProbeKind::Timerlat(_) => return Ok(None),
        }))
    }

    /// So many rounds at the start are not counted, at this interval.
    pub(crate) fn warm_up(&self, interval: Ns) -> u32 {
        match self {
            Job::Timerlat { .. } => timerlat_warm_up(interval),
            _ => WARM_UP,
        }
    }

    /// Makes the meter, in its measuring thread. The string is the reason where the interrupts of its CPU cannot be counted.
    pub(crate) fn meter(&self) -> Result<(Box<dyn Meter>, Option<String>), SysError> {
        let mut uncounted = None;
        let meter: Box<dyn Meter> = match self {
            Job::Timer(timer) => make_timer(*timer)?,
            Job::Busy { gap, duty } => Box::new(Busy::new(*gap, *duty)),
            Job::Ipc(link) => Box::new(Woken::new(Arc::clone(link))?),
            Job::Deadline { runtime, deadline } => Box::new(Deadline::new(*runtime, *deadline)),
            Job::Hwlat { width } => {
                let interrupts = Interrupts::open();
                uncounted = interrupts.as_ref().err().cloned();
                Box::new(Hwlat::new(*width, interrupts.ok()))
            }
            Job::Timerlat { interface, cpu } => Box::new(Waiting::open(Arc::clone(interface), *cpu)?),
        };
        Ok((meter, uncounted))
    }
}
