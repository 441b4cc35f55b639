//! Tuning that can be read first and undone exactly.
//!
//! ```text
//! profile (TOML) ─┐                      ┌─ what is so now (Tree)
//! TuneD profile  ─┴─> Wishes ──> plan ───┴─> Plan: changes, conflicts, refusals
//!                                             └─> apply: steps, each journaled before it is made
//!                                                  └─> verify, rollback, history: by the journal
//! ```
//!
//! * [`Wish`]: what is asked for, with patterns; [`Setting`]: one thing with a value; [`Cell`]: what is written.
//! * Only [`System::write`] and [`System::run`] change anything.

mod cell;
pub mod knob;
mod plan;
mod setting;
mod wish;

pub use cell::{Action, Cell, CellError, FileState, State, Step, System};
pub use plan::{Change, Conflict, Kept, Machine, Plan, Refusal};
pub use setting::{Setting, ThreadId};
pub use wish::{Aim, LeftOut, Pattern, Reasons, Threads, Wish, Wishes};
