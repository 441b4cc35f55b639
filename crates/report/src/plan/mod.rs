//! `whylate plan`: what tuning would change.

mod changes;
pub mod json;
pub mod markdown;
pub mod terminal;
