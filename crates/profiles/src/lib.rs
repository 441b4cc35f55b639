//! Profiles: what tuning asks of a machine.
//!
//! ```text
//! profile.rs  whylate's profiles (TOML), built in and in files ─┐
//! tuned.rs    TuneD's profiles, read as they are ───────────────┼─> DesiredState (desired.rs)
//! fixes.rs    the fixes that findings advise ─────────────────┤
//! reference.rs  a name or a path of either, or of a machine ────┘
//! ```
//!
//! What a profile asks for has patterns (all threads called `ktimers/*`); a plan expands them for one machine.

mod cpus;
mod desired;
pub mod fixes;
pub mod policy;
pub mod profile;
mod reference;
pub mod sysctl;
pub mod tunable;
pub mod tuned;

pub use cpus::none_left;
pub use desired::{
    ConditionalSetting, DesiredSetting, DesiredState, Pattern, Reasons, Selector, Skipped, ThreadSelector,
};
pub use reference::{ProfileReference, ReferenceError, ResolvedProfile};

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
