//! Bounds on response times that hold for every phase and every length within the task set's limits.
//!
//! ```text
//! Model ─> job (what a job needs at most)  ┐
//!        └> interference (what goes first) ┴> fixed_priority, demand ─> Bound
//! ```
//!
//! A bound is given where theory has one: for tasks that stay on one CPU. Elsewhere the reason is given instead.

mod analysis;
mod demand;
mod fixed_priority;
mod interference;
mod job;

pub use analysis::{Bound, bounds};
pub use demand::{DemandTask, demand, first_overload};
pub use fixed_priority::{Interference, ResponseLimit, response_time, response_times_of_jobs};
