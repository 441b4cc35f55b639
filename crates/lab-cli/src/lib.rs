//! The test rig of whylate: is an explanation right, and does tuning keep its promises?
//!
//! ```text
//!  pattern    names with a `*`
//!  scenario   a fault as data: what runs, where, and what the answer must be
//!  label      what the injector did, to which thread, and when
//!  judge      the label beside an explanation: right, wrong, or unexplained?
//!  matrix     scenarios x kernels x seeds
//!  score      sums over all of these
//!  document   both as JSON, with a versioned schema
//!  state      everything that tuning may change on a machine, and what differs between two moments
//!  trial      tuning on trial: applied, rebooted, verified, rolled back, killed: is all as before?
//! ```
//!
//! The program under test is the product's own binary, `whylate`. Nothing of this crate is in it.

pub mod document;
pub mod judge;
pub mod label;
pub mod matrix;
pub mod pattern;
pub mod scenario;
pub mod score;
pub mod state;
pub mod trial;
