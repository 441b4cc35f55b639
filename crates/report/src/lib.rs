//! Renders what the analyses found: for a terminal, as JSON, as one HTML file. A module for each document.
//!
//! ```text
//! explain   Explained       terminal  json  html  svg  markdown  sarif  junit
//! doctor    DoctorReport    terminal  json                        sarif
//! run       RunReport       terminal  json
//! measure   MeasureReport   terminal  json  html  svg  markdown
//! compare   Compared        terminal  json  html  svg  markdown
//! bench     BenchReport     terminal  json  html       markdown
//!           BenchComparison terminal  json             markdown
//! check     checks::CheckReport  terminal  json  html  markdown  sarif  junit
//! plan      Plan            terminal  json             markdown
//!           SettingsComparison  terminal  json  html  markdown
//! apply     [JournalEntry]  terminal  json
//! verify    Verification    terminal  json
//! history   [HistoryEntry]  terminal  json
//! ps        PsReport        terminal  json
//! tables    [TopCause]      terminal
//! watch     WatchReport     terminal  json  html       markdown
//! prove     ProveReport       terminal  json  html  markdown
//! simulate  SimulationReport  terminal  json  html  svg  markdown
//! plot      [Prepared]                            svg
//! ```
//!
//! A renderer computes nothing: it formats, groups rows and scales to columns or pixels.
//! It knows no terminal and writes no file; the caller chooses whether colours are used.

pub mod apply;
pub mod bench;
pub mod bench_compare;
mod bins;
pub mod check;
mod claims;
mod closing;
pub mod compare;
pub mod doctor;
pub mod explain;
mod file_uri;
mod format;
pub mod group_compare;
pub mod guard;
pub mod history;
mod html;
mod json;
mod junit;
mod markdown;
pub mod measure;
pub mod plan;
pub mod plan_compare;
pub mod plot;
pub mod prove;
pub mod ps;
mod render;
pub mod run;
mod sarif;
pub mod simulate;
mod svg;
pub mod tables;
mod terminal;
pub mod verify;
pub mod watch;
mod words;

pub use format::Format;
pub use render::{Render, Rendered};
pub use terminal::Style;
