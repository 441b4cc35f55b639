//! `whylate prove`: whether a change makes a machine's threads less late, measured before and after in alternation.
//!
//! ```text
//! run ──order──> before, after, after, before ...   (round/)
//!   ├─ tuned_machine   makes the change by a journal, and rolls it back     watchdog: the same where this process is killed
//!   ├─ subject         a probe, or watched threads ──> stats::Run of a round
//!   ├─ throughput      a command whose run time is a side effect
//!   ├─ meter           what a round runs and measures
//!   └─ judge           rounds ──> better, worse, no difference shown, refused    (pure)
//!        ├─ side_effects   other threads, throughput, new causes, newly failed checks
//!        └─ conclude       what becomes of the change, and the report
//! reboots: the same for kernel parameters, one round in each boot
//! ```

mod conclude;
mod error;
mod judge;
mod latency_request;
mod merge;
mod meter;
mod options;
mod others;
pub mod reboots;
mod report;
mod round;
mod run;
mod side_effects;
mod subject;
mod throughput;
mod tuned_machine;
mod watchdog;

pub use error::ProveError;
pub use judge::{Decision, ProveJudgement, ProveVerdict, judge};
pub use options::{ChangeSource, MachineAccess, ProveOptions, ProveProgress};
pub use report::{
    ChangeOutcome, ProveReport, ProvenChange, RoundSummary, SideEffect, SideEffectKind, StateSummary,
};
pub use round::{Round, RoundState};
pub use run::prove;
pub use subject::Subject;
pub use tuned_machine::TunedMachine;
pub use watchdog::restore_at_end;
