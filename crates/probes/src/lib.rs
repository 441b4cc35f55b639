//! The measuring threads and what they count.
//!
//! ```text
//! TimerProbe::start ──> one measuring thread per CPU ──> Recorder (atomics) ──> snapshot, stop
//!                              │ sample over the threshold,
//!                              │ or among the worst so far
//!                              └──> SPSC ring of atomics ──> Running::spikes
//! ```
//!
//! A measuring thread allocates nothing, takes no lock, logs nothing and touches no fresh
//! memory after its warm-up: all it writes are preallocated atomics, which the controlling
//! thread reads at its leisure. What it was refused (priority, locked memory) does not stop
//! a measurement: it becomes a [`Degraded`] entry that says how to get it.

mod block;
mod degraded;
mod error;
mod histogram;
mod probe;
mod recorder;
mod result;
mod ring;
mod thread;
mod worst;

pub use degraded::{Degraded, Lacking};
pub use error::{CpuUnusable, ProbeError};

pub use probe::{ProbeThread, Running, TimerProbe};
pub use result::{CpuResult, Spike, TimerResult};
pub use thread::WARM_UP;
