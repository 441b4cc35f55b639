//! A model of Linux's scheduler: what a task set will do on a kernel, before it runs there.
//!
//! ```text
//! trace.dat ──> recording ─┐
//! tasks.toml ──> taskset ──┴> Model ──┬─> engine ──> events ──> the ledger ──> verdicts, findings
//!                                    └─> bounds                                     └─> SimulationReport
//! ```
//!
//! Pure: no I/O, and the same seed gives the same run. The simulator traces what it does as the kernel would, so that the
//! ledger explains a simulation as it explains a recording.

pub mod bounds;
pub mod change;
mod check;
mod engine;
pub mod findings;
mod mean;
mod mean_error;
pub mod model;
pub mod propose;
pub mod recording;
pub mod replay;
mod replay_report;
mod report;
mod result;
mod source;
pub mod sweep;
pub mod taskset;
pub mod worst_case;

pub use check::{ModelError, check};
pub use engine::Tally;
pub use mean::mean;
pub use replay_report::{MeanError, MeanReplay, ReplayError, ReplayReport, ReplayedThread, ResponseSummary};
pub use report::{RunOptions, SimulationReport, simulate};
pub use result::TaskResult;
pub use source::SimulatedSource;
