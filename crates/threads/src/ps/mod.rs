//! `whylate ps`: what is real-time on this machine, and what it does.
//!
//! ```text
//! sample ──(interval)──> sample ──> rates of each thread and interrupt
//!                                   threads that are selected: waits (what each is blocked on), cgroup
//!                                   oddities ──> PsReport
//! ```

mod interrupts;
mod oddities;
mod options;
mod report;
mod sample;
mod thread_row;
mod waits;

pub use interrupts::{InterruptKind, InterruptRow, IrqThread};
pub use options::PsOptions;
pub use report::{PageFaults, PsReport};
pub use sample::PsSample;
pub use thread_row::{Oddity, Scheduling, ThreadRow};
pub use waits::{BlockedOn, FutexWait};
