//! Many values of a setting, one run for each combination: which phase, priority or CPU is the bad one, and which are good.
//!
//! ```text
//! SweepAxis (--sweep) ──> combinations ──> run, on all CPUs ──> SweepOutcome ──> ranked, grouped ──> Sweep
//! ```
//!
//! Each value is a change as `--set` has it, so that a combination and the same changes one by one are the same run.

mod axis;
mod combination;
mod groups;
mod outcome;
mod run;
mod subject;

pub use axis::{MOST_COMBINATIONS, SweepAxis};
pub use combination::{Combination, Sweep, SweepGroup};
pub use outcome::{OtherThread, SweepOutcome, ThreadOutcome};
pub(crate) use outcome::{compare, run as outcomes};
pub use run::{SweepError, sweep};
pub use subject::SweepSubject;
