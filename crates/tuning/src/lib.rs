//! Plans, applies, verifies and rolls back tuning of a machine.
//!
//! ```text
//!                      ┌─ current values (FsRoot)
//! DesiredState ─> plan ┴─> Plan: changes, conflicts, refusals
//!                            └─> apply: steps, each journaled before it is made
//!                                  └─> verify, rollback, history: by the journal
//! ```
//!
//! * A [`DesiredSetting`](whylate_profiles::DesiredSetting) has patterns; [`Setting`]: one thing with a value; [`Target`]: what is written.
//! * Only [`System::write`] and [`System::run`] change anything.

mod apply;
mod aspm;
mod balancer;
mod drift;
mod effect;
mod fault;
mod files;
mod history;
mod journal;
mod live;
pub mod persist;
mod plan;
mod processes;
mod report;
mod revert;
mod rollback;
mod run;
mod setting;
mod steps;
mod store;
mod sysctl;
mod target;
mod unit;
mod verify;

pub use apply::{FailurePolicy, apply, resume};
pub use drift::{PlanDrift, drifted};
pub use effect::{
    BootDecision, BootSkipped, RollbackTargets, RolledBack, at_boot, rollback_all, rollback_targets,
    unfinished,
};
#[cfg(feature = "fault-injection")]
pub use fault::FaultInjector;
pub use history::{HistoryEntry, HistorySession, history};
pub use journal::{
    BootInstant, Journal, JournalEntry, JournalError, JournalRecord, JournalSession, PlannedAction,
    PlannedStep, RollbackResult, SessionKind, SessionOutcome, Status, StepProgress, StepRecord, StoredState,
    Timestamp,
};
pub use live::LiveSystem;
pub use plan::{
    Agreement, AllowedRefusals, Change, ComparedSetting, ComparedSide, ComparedSubject, Conflict,
    MachineIdentity, NamedChange, NamedRefusal, NamedUnchanged, Plan, PlanDocument, PlanRefusal, PlanTotals,
    PredictedRefusal, SettingsComparison, SideKind, SideSource, SideValue, Unchanged, ValueState,
    compare_settings, for_rules, look, plan, without_parameters, without_root,
};
pub use report::{ApplyReport, StepReport};
pub use revert::{ClockReading, RevertDue, arm, confirm, due};
pub use rollback::{RollbackReport, rollback};
pub use run::{RunContext, boot_id};
pub use setting::{Setting, ThreadId};
pub use steps::{StepsError, parameter_steps, runtime_steps, steps};
pub use store::{JournalStore, ReadableJournals, StoreLock};
pub use target::{ApplyStep, StepAction, System, Target, TargetError, TargetState};
pub use verify::{Drift, Uncovered, Verification, verify};

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
