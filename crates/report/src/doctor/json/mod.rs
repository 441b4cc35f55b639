//! The mistakes of a program as JSON.

pub mod document;
mod from_doctor;

use serde_json::Value;
use whylate_investigate::doctor::DoctorReport;

/// The mistakes of a program as a document of schema [`document::SCHEMA`].
pub fn render(report: &DoctorReport) -> Value {
    crate::json::value(&document::Document::from(report))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<document::Document>()
}
