//! The loops of the probes: one file for each kind.

mod busy;
pub(crate) mod channel;
mod deadline;
mod hwlat;
mod interrupts;
mod ipc;
mod pace;
mod timer;

pub(crate) use busy::Busy;
pub(crate) use deadline::Deadline;
pub(crate) use hwlat::Hwlat;
pub(crate) use interrupts::Interrupts;
pub(crate) use ipc::{Link, Woken};
pub(crate) use pace::{Meter, Pace};
pub(crate) use timer::make as make_timer;
