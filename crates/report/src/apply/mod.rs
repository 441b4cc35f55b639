//! `whylate apply` and `whylate rollback`: what was done to a machine.

pub mod json;
pub mod terminal;
