//! Two sides, each a profile or a machine, and a third machine beside them: setting by setting.
//!
//! ```text
//! profile: DesiredState ─expand─> SideValues (the desired values) ─┐
//! machine: FsRoot, Snapshot ─expand─> SideValues (the values now) ─┼─make─> SettingsComparison
//! this machine, or that of --root ────────────────────────────────┘
//! ```
//!
//! Settings are compared by what they are on every machine ([`ComparedSubject`]): threads and interrupts by name.

mod catalog;
mod machine;
mod make;
mod model;
mod profile;
mod side_values;
mod subject;

pub use make::{SideSource, compare_settings};
pub use model::{
    Agreement, ComparedSetting, ComparedSide, SettingsComparison, SideKind, SideValue, ValueState,
};
pub use subject::ComparedSubject;
