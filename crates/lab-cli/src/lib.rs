//! The test rig of whylate: it judges explanations of known faults, and tests tuning on real kernels.
//!
//! ```text
//!  pattern    names with a `*`
//!  scenario   a fault as data: what runs, on which kernels, and the right answers
//!  label      the injector's record: fault, threads, late jobs
//!  judge      compares an explanation with the label: right, wrong, or unexplained
//!  matrix     scenarios x kernels x seeds
//!  programs   faults made by other programs, with labels, on the same kernels
//!  rerun      a scenario once more, with a change
//!  fixes      does the first advice help?
//!  predict     predictions of `whylate simulate`, and the truth
//!  mistakes   small programs with one real-time mistake each, which doctor must find
//!  score      totals of a matrix
//!  document   both as JSON, with a versioned schema
//!  state      everything that tuning may change on a machine, and the differences between two states
//!  trial      applies a profile, reboots, verifies, rolls back, kills, and compares the states
//! ```
//!
//! The program under test is the product's own binary, `whylate`, which contains nothing of this crate.

pub mod document;
pub mod fixes;
pub mod judge;
pub mod label;
pub mod matrix;
pub mod mistakes;
pub mod pattern;
pub mod predict;
pub mod programs;
pub mod rerun;
pub mod scenario;
pub mod score;
pub mod state;
pub mod trial;
