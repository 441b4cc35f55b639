//! What clocks, sockets, memory and threads cost on this machine, as distributions.
//!
//! ```text
//! clock, socket, memory, thread: Cases ──> rounds ──> BenchRow: histogram of samples, time per operation
//!                                  │         each case in turn, several rounds: what differs between
//!                                  │         rounds is noise
//!                                  └──> verdict: what the rows mean, in sentences
//! ```
//!
//! A sample is a batch of operations, as many as it takes for the clock's own cost to be small. No thread here is made
//! real-time: a measurement inherits the policy that it is started with.

mod case;
pub mod clock;
mod compare;
mod error;
mod kind;
mod memory;
mod operation_time;
mod report;
mod rounds;
mod run;
mod sampling;
pub mod socket;
mod thread;

pub use compare::{BenchAnswer, BenchComparison, BenchDifference};
pub use error::BenchError;
pub use kind::BenchKind;
pub use operation_time::{OperationTime, PerOperation};
pub use report::{BenchReport, BenchRow, BenchVerdict, ClockFacts, PublishedTime, SkippedRow};
pub use rounds::ROUNDS;
pub use run::{BenchOptions, bench};
