//! Renders what the analyses found: for a terminal, as JSON, as one HTML file.
//!
//! ```text
//! Explanation   ──> terminal::explanation, terminal::measurement   in a width the caller chooses
//! MeasureReport ──> json::explanation, json::measurement           schemas whylate.explain/1, .measure/1
//!               ──> html::explanation, html::measurement           one self-contained file
//!               ──> svg::explanation, svg::measurement             the same drawings, alone
//! checks::Report──> terminal::checked, html::checked, json::checked  schema whylate.check/1
//!               ──> sarif::checked, junit::checked, markdown::checked
//! Compared      ──> terminal::compared, json::compared, html::compared, svg::compared   schema whylate.compare/1
//!               ──> markdown::compared
//! Prepared ...  ──> svg::plotted, svg::shifted
//! tuning::Plan  ──> terminal::planned, markdown::planned, json::planned     schema whylate.plan/1
//! ```
//!
//! A renderer computes nothing: it formats, groups rows and scales to columns or pixels.
//! It knows no terminal and writes no file; the caller says whether colours are wanted.

mod answers;
mod bins;
mod changes;
mod claims;
mod compared;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
mod measured;
mod rows;
pub mod sarif;
pub mod svg;
pub mod terminal;
mod words;

pub use compared::{Claiming, Compared, Gated};
