//! Starts a program with its policy, CPUs and memory, in the order that cannot hang, and explains what the kernel refuses.
//!
//! * [`RunRequest`]: what is asked for. [`check`] examines it and changes nothing; [`start`] becomes the program.
//! * Priority comes before affinity: a thread of SCHED_OTHER that is pinned to a CPU on which a SCHED_FIFO thread never
//!   sleeps does not run again, and so never gets to the call that would raise its priority.

mod apply;
mod bandwidth;
mod change;
mod check;
mod cpus;
mod error;
mod program;
mod refusal;
mod report;
mod request;
mod starvation;

pub use apply::start;
pub use check::check;
pub use error::RunError;
pub use refusal::Refusal;
pub use report::{RunReport, RunStep};
pub use request::RunRequest;
