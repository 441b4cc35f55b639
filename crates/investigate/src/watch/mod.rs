//! `whylate watch`: an always-on recorder of the user's own threads; only late activations are kept, and explained.
//!
//! ```text
//! flight recorder ──fresh pages──> EventStream ──events in order──> LiveLedger ──late──> groups, windows, actions
//!        ^                            │ counts                         ^
//!        └── fewer kinds of events ── CpuBudget          LateThreshold: deadline, period or history
//! ```
//!
//! Everything that is remembered is bounded: threads, groups, windows, and the pages of the last seconds.

mod action;
mod budget;
mod config;
mod counts;
mod error;
mod event_cost;
mod event_groups;
mod groups;
mod late;
mod late_budget;
mod options;
mod period;
mod report;
mod run;
mod store;
mod stream;
mod threshold;
mod unit;

pub use action::OnLate;
pub use config::WatchConfig;
pub use error::WatchError;
pub use groups::{GroupKey, LateGroup, LateGroups};
pub use late::{LateActivation, LateLimit, LimitKind};
pub use options::{PreviousWatch, WatchKeeping, WatchOptions, WatchRule, WatchSignals};
pub use report::{KeptWindow, WatchCost, WatchEvent, WatchReport, WatchedName};
pub use run::watch;
pub use store::{WATCH_FILE, WatchStore, WatchStoreError};
pub use threshold::LateThreshold;
pub use unit::unit;
