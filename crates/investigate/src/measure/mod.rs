//! `whylate measure`: how late timed wake-ups are, and why the latest of them were.
//!
//! ```text
//! Probe ──spikes──> SpikeLog (Keep: worst N, over the threshold) ──windows──> FlightRecorder
//!     │                 │ one a turn: explained, saved, grouped                   │ captures
//!     └──────> distribution per CPU ──> MeasureReport <── explained <── ledger────┘
//! ```
//!
//! With `--stacks` a StackSampler takes call stacks on the measured CPUs; those of the kept spikes join the captures at the end.
//!
//! Without tracefs, or without the right to it, the measurement runs all the same, and the
//! report shows what is missing.

mod caveats;
mod claimed;
mod deadline;
mod deadline_answer;
mod explained;
mod groups;
mod housekeeping;
mod keep;
mod machine;
mod observed;
mod options;
mod phase;
mod phases;
mod report;
mod run;
mod spike;
mod spike_log;
mod stacks;
mod steady_name;
mod steal;
mod store;
mod tail;
mod trace;

pub use claimed::{Claimed, Wanted, WantedError};
pub use deadline_answer::{Approach, DeadlineAnswer};
pub use explained::Explain;
pub use groups::SpikeGroup;
pub use machine::of as machine_settings;
pub use observed::Observed;
pub use options::{Keeping, Loading, MeasureOptions, SpikeStacks};
pub use phase::{MeasuredPhase, Phase, PhaseShift};
pub use phases::measure_phases;
pub use report::{MeasureReport, TraceState};
pub use run::{MeasureError, Progress, measure};
pub use spike::{ExplainedSpike, NotExplained, Saved, SpikeKind};
pub use spike_log::{Listing, SpikeLog};
pub(crate) use steady_name::steady_name;
pub use steady_name::steady_task;
pub use store::{JOURNAL, Store, StoreError};
pub use tail::{RARE, TailEstimate};
