//! Tuning that can be read first and undone exactly.
//!
//! ```text
//!                   ┌─ what is so now (Tree)
//! Wishes ──> plan ──┴─> Plan: changes, conflicts, refusals
//!                        └─> apply: steps, each journaled before it is made
//!                             └─> verify, rollback, history: by the journal
//! ```
//!
//! * A [`Wish`](whylate_profiles::Wish) has patterns; [`Setting`]: one thing with a value; [`Cell`]: what is written.
//! * Only [`System::write`] and [`System::run`] change anything.

mod apply;
mod balancer;
mod cell;
mod drift;
mod fault;
mod files;
mod glob;
mod history;
mod journal;
mod live;
pub mod persist;
mod plan;
mod processes;
mod revert;
mod rollback;
mod setting;
mod steps;
mod store;
mod sysctl;
mod unit;
mod verify;

pub use apply::{Run, apply, boot_id, resume};
pub use cell::{Action, Cell, CellError, State, Step, System};
pub use drift::{Drifted, drifted};
#[cfg(feature = "fault-injection")]
pub use fault::FaultInjector;
pub use history::{Line, Part, history};
pub use journal::{
    Back, Entry, How, Journal, JournalError, Kind, Moment, Planned, Progress, Record, Session, Standing,
    Stored, Taken, Then,
};
pub use live::Live;
pub use plan::{
    Change, Conflict, Kept, Machine, Permits, Plan, Refusal, for_rules, look, plan, without_parameters,
    without_root,
};
pub use revert::{Due, arm, confirm, due};
pub use rollback::{Undone, rollback};
pub use setting::{Setting, ThreadId};
pub use steps::{StepsError, runtime_steps, steps};
pub use store::{Lock, Store};
pub use verify::{Drift, Uncovered, Verified, verify};
