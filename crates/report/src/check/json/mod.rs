//! The answers about a machine as JSON.

pub mod document;
mod from_checks;

use serde_json::Value;
use whylate_checks::CheckReport;

/// The answers about a machine as a document of schema [`document::SCHEMA`].
pub fn render(report: &CheckReport) -> Value {
    crate::json::value(&document::Document::from(report))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<document::Document>()
}
