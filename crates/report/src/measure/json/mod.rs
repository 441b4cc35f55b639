//! A measurement as JSON, and back.

pub mod document;
pub(crate) mod from_measure;
mod to_run;

use serde_json::Value;
use whylate_investigate::measure::MeasureReport;

pub use to_run::run;

/// A measurement as a document of schema [`document::SCHEMA`].
pub fn render(report: &MeasureReport) -> Value {
    crate::json::value(&document::Document::from(report))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<document::Document>()
}
