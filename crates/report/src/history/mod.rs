//! `whylate history`: what was applied when.

pub mod json;
pub mod terminal;
