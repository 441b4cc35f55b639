//! Writes a trace, and the explanation of it, in the formats of other tools.
//!
//! ```text
//!               ┌─ Cut: time, CPUs, threads, events
//! EventSource ──┴─┬─> text        as `trace-cmd report` prints
//!                 ├─> json_lines  one typed event a line
//!                 ├─> dat         trace.dat version 7, for trace-cmd and KernelShark
//!                 ├─> perfetto    ftrace, with ledger and verdicts as tracks ──┐ explained on the way,
//!                 └─> tables      Parquet: events, activations, segments ──────┘ over the whole trace
//! ```
//!
//! Every one reads its source once, from front to back, and holds no more of it than a buffer: what a trace
//! has of events does not matter to the memory it takes.
//!
//! Measurements, which have no events, are written by [`latencies`].

pub mod dat;
pub mod json_lines;
pub mod latencies;
pub mod perfetto;
pub mod tables;
pub mod text;

mod cut;
mod early_facts;
mod names;
mod raw;
mod sink;
mod threads;
mod tracepoint;

pub use cut::{Choice, ChoiceError, Cut, Selected};
pub use sink::Written;
pub use tracepoint::{Tracepoint, kind_name};
