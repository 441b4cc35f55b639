//! The difference between a machine and what a profile asks of it, with reasons.
//!
//! ```text
//! DesiredSetting ─expand─> settings with their current values ─┬─> Change     now -> then, with reasons
//!        (tunables, threads, irqs, parameters, units)          ├─> Unchanged  already set
//!                                                              ├─> Skipped    not readable, absent, or not changeable
//!                                                              └─> PredictedRefusal   optional, and sure to be refused
//! comparison  two sides (profiles, machines) and this machine, setting by setting
//! all of them together ─> conflicts (which program would undo a change), refusals (why the plan must not be applied)
//! ```

mod captured;
mod comparison;
mod conflicts;
mod context;
mod cpus;
mod document;
mod expand;
mod expansion;
mod groups;
mod image_based;
mod irqs;
mod links;
mod make;
mod model;
mod narrow;
mod next_boot;
mod parameters;
mod pattern;
mod predict;
mod refusals;
mod threads;
mod tunables;
mod units;

pub use comparison::{
    Agreement, ComparedSetting, ComparedSide, ComparedSubject, SettingsComparison, SideKind, SideSource,
    SideValue, ValueState, compare_settings,
};
pub use document::{NamedChange, NamedRefusal, NamedUnchanged, PlanDocument, PlanTotals};
pub use make::{look, plan};
pub use model::{Change, Conflict, MachineIdentity, Plan, PlanRefusal, PredictedRefusal, Unchanged};
pub use narrow::{for_rules, without_parameters};
pub use refusals::{AllowedRefusals, without_root};
