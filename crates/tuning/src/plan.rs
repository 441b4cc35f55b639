//! The difference between a machine and what a profile asks of it, with reasons.
//!
//! ```text
//! Wish ──expand──> settings, each with how it is now ──┬─> Change     now -> then, with reasons
//!        (tunables, threads, irqs, parameters, units)     ├─> Kept       as it is desired
//!                                                      └─> LeftOut    could not be read, is not here
//! all of them together ──> conflicts (who would undo it), refusals (why it must not be)
//! ```

mod conflicts;
mod context;
mod cpus;
mod document;
mod expand;
mod expansion;
mod groups;
mod irqs;
mod knobs;
mod links;
mod make;
mod model;
mod narrow;
mod next_boot;
mod parameters;
mod pattern;
mod refusals;
mod threads;
mod units;

pub use document::{NamedChange, NamedUnchanged, PlanDocument, PlanTotals};
pub use make::{look, plan};
pub use model::{Change, Conflict, Machine, Plan, Refusal, Unchanged};
pub use narrow::{for_rules, without_parameters};
pub use refusals::{Permits, without_root};
