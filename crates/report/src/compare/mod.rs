//! `whylate compare`: runs side by side.

pub mod html;
pub mod json;
pub mod markdown;
mod runs;
pub mod svg;
pub mod terminal;

pub use runs::{Claiming, Compared, Gated};
