//! `whylate guard`: its events as text, as JSON lines, and its counts as metrics.

pub mod json;
pub mod metrics;
pub mod text;
