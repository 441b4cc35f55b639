//! `whylate measure`: how late timed wake-ups are, and why the latest of them were.
//!
//! ```text
//! Probe ──spikes──> Chronicle (Keep: worst N, over the threshold) ──windows──> FlightRecorder
//!     │                 │ one a turn: explained, saved, grouped                   │ captures
//!     └──────> distribution per CPU ──> MeasureReport <── explained <── ledger────┘
//! ```
//!
//! Without tracefs, or without the right to it, the measurement runs all the same, and the
//! report says what is missing.

mod beyond;
mod chronicle;
mod claimed;
mod explained;
mod groups;
mod keep;
mod machine;
mod notes;
mod observed;
mod off;
mod report;
mod run;
mod store;
mod trace;

pub use beyond::{Beyond, RARE};
pub use chronicle::{Chronicle, Listing};
pub use claimed::{Answer, Claimed, Wanted, WantedError};
pub use explained::Explain;
pub use groups::{SpikeGroup, steady_irq, steady_task};
pub use observed::Observed;
pub use report::{ExplainedSpike, MeasureReport, NotExplained, Saved, SpikeKind, TraceState};
pub use run::{Keeping, Loading, MeasureError, MeasureOptions, Progress, measure};
pub use store::{JOURNAL, Store, StoreError};
