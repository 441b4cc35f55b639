//! Drawings: parts of the HTML page, and files of their own for documents and issue trackers.
//!
//! A file carries its own colours, light and dark, and loads nothing from anywhere.

pub(crate) mod file;
pub(crate) mod palette;
pub(crate) mod plot;
