//! Explanations as the ledger would give them, and measurements, made by hand.

mod activations;
mod hostile;
mod measurement;
mod section;
mod story;

pub(crate) use activations::by_hand;
pub(crate) use hostile::hostile;
pub(crate) use measurement::{measurement, poor_measurement};
pub(crate) use section::section;
pub(crate) use story::{candidates, empty, story, with_stacks};
