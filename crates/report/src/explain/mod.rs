//! `whylate explain`: why threads were late.

pub mod html;
pub mod json;
mod rows;
pub mod svg;
pub mod terminal;
mod timeline;
