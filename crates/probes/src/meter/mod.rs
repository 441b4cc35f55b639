//! The loops of the probes: one file for each kind.

mod busy;
mod channel;
mod deadline;
mod hwlat;
mod interrupts;
mod ipc;
mod timer;

pub(crate) use ipc::Link;

use crate::sampler::Sampler;
use crate::timerlat::{self, Interface, Waiting};
use crate::{Kind, Timer, WARM_UP};
use interrupts::Interrupts;
use std::sync::Arc;
use whylate_base::{Cpu, Ns};
use whylate_sys::SysError;

/// One kind's way to measure. It is made, started twice (to warm up, to measure) and used in its measuring thread.
pub(crate) trait Meter {
    /// Rounds from now on are at this pace.
    fn start(&mut self, pace: Pace) -> Result<(), SysError>;

    /// Waits for the next sample and takes it; returns within an interval, or a little more where it is late. Nothing in
    /// here may allocate, lock, log, or touch memory that it did not touch in the warm-up.
    fn round(&mut self, sampler: &mut Sampler) -> Result<(), SysError>;
}

/// When rounds are due.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) first: Ns,
    pub(crate) interval: Ns,
    /// What is measured counts nowhere.
    pub(crate) warm_up: bool,
}

impl Pace {
    /// None yet; `start` comes before the first round.
    const NONE: Pace = Pace { first: Ns::ZERO, interval: Ns(1), warm_up: true };

    /// The period that is due next.
    fn due(&self) -> Ns {
        self.first
    }

    /// That period ended now; gives how many further ones have passed with it.
    fn next(&mut self, now: Ns) -> i64 {
        let passed = (now - self.first).0.max(0) / self.interval.0.max(1);
        self.skip(passed.saturating_add(1));
        passed
    }

    /// So many periods are over.
    fn skip(&mut self, periods: i64) {
        self.first += Ns(self.interval.0.saturating_mul(periods));
    }
}

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
    pub(crate) fn new(kind: &Kind, duty: u8) -> Result<Option<Job>, SysError> {
        Ok(Some(match *kind {
            Kind::Timer(timer) => Job::Timer(timer),
            Kind::Busy { gap, .. } => Job::Busy { gap, duty },
            Kind::Ipc { by, .. } => Job::Ipc(Arc::new(Link::open(by)?)),
            Kind::Deadline { runtime, deadline } => Job::Deadline { runtime, deadline },
            Kind::Hwlat { width } => Job::Hwlat { width },
            Kind::Timerlat(_) => return Ok(None),
        }))
    }

    /// So many rounds at the start are not counted, at this interval.
    pub(crate) fn warm_up(&self, interval: Ns) -> u32 {
        match self {
            Job::Timerlat { .. } => timerlat::warm_up(interval),
            _ => WARM_UP,
        }
    }

    /// Makes the meter, in its measuring thread. Where the interrupts of its CPU cannot be counted, says why.
    pub(crate) fn meter(&self) -> Result<(Box<dyn Meter>, Option<String>), SysError> {
        let mut uncounted = None;
        let meter: Box<dyn Meter> = match self {
            Job::Timer(timer) => timer::make(*timer)?,
            Job::Busy { gap, duty } => Box::new(busy::Busy::new(*gap, *duty)),
            Job::Ipc(link) => Box::new(ipc::Woken::new(Arc::clone(link))?),
            Job::Deadline { runtime, deadline } => Box::new(deadline::Deadline::new(*runtime, *deadline)),
            Job::Hwlat { width } => {
                let interrupts = Interrupts::open();
                uncounted = interrupts.as_ref().err().cloned();
                Box::new(hwlat::Hwlat::new(*width, interrupts.ok()))
            }
            Job::Timerlat { interface, cpu } => Box::new(Waiting::open(Arc::clone(interface), *cpu)?),
        };
        Ok((meter, uncounted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_that_passed_are_skipped_and_counted() {
        let mut pace = Pace { first: Ns(1_000), interval: Ns(100), warm_up: false };
        assert_eq!((pace.next(Ns(1_040)), pace.due()), (0, Ns(1_100)));
        assert_eq!((pace.next(Ns(1_350)), pace.due()), (2, Ns(1_400)));
        assert_eq!(
            (pace.next(Ns(1_390)), pace.due()),
            (0, Ns(1_500)),
            "a clock that was read before it was due"
        );
    }
}
