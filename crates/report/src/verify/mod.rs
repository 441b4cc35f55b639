//! `whylate verify`: whether a machine still has the settings that were applied.

pub mod json;
pub mod terminal;
