//! `whylate measure`: how late wake-ups were, and why.

mod facts;
pub mod html;
pub mod json;
pub mod svg;
pub mod terminal;
