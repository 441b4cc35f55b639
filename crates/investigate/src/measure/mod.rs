//! `whylate measure`: how late timed wake-ups are, and why the latest of them were.
//!
//! ```text
//! TimerProbe ──spikes──> Keep (worst N, over the threshold) ──windows──> FlightRecorder
//!     │                                                                       │ captures
//!     └──────> distribution per CPU ──> MeasureReport <── explained <── ledger┘
//! ```
//!
//! Without tracefs, or without the right to it, the measurement runs all the same, and the
//! report says what is missing.

mod explained;
mod keep;
mod machine;
mod notes;
mod off;
mod report;
mod run;

pub use report::{ExplainedSpike, MeasureReport, NotExplained, SpikeKind, TraceState};
pub use run::{MeasureError, MeasureOptions, Progress, measure};
