//! The measuring threads and what they count.
//!
//! ```text
//! Probe::start ──> one measuring thread per CPU ──> Recorder (atomics) ──> snapshot, stop
//!   ProbeKind              │ a Meter of its kind, round by round
//!                     │ sample over the threshold, or among the worst so far
//!                     └──> SPSC ring of atomics ──> Running::spikes
//! ```
//!
//! A measuring thread allocates nothing, takes no lock but one whose waiting it measures, logs nothing and touches no
//! fresh memory after its warm-up: all it writes are preallocated atomics, which the controlling
//! thread reads at its leisure. What it was refused (priority, locked memory) does not stop
//! a measurement: it becomes a [`Degraded`] entry with the way to get it.

pub mod bench;
mod block;
mod check;
mod degraded;
mod error;
mod histogram;
mod job;
mod journal;
mod kind;
pub mod load;
mod meter;
mod prepare;
mod probe;
mod recorder;
mod result;
mod ring;
mod running;
mod sampler;
mod setup;
mod smi;
mod thread;
mod timerlat;
mod warm_up;
mod worker;
mod worst;

pub use degraded::{Degraded, Lacking};
pub use error::{CpuUnusable, ProbeError};
pub use kind::{Ipc, ProbeKind, Timer, UnknownName, Waker, Workload};
pub use probe::Probe;
pub use result::{Counts, CpuResult, ProbeResult, ProbeThread, Spike};
pub use running::Running;
pub use warm_up::WARM_UP;
