//! What the documents for a terminal share: lines, wrapped paragraphs, aligned tables, colours.

pub(crate) mod layout;
pub(crate) mod paint;
mod style;

pub use style::Style;
