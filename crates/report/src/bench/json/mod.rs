//! A bench as JSON.

pub mod document;
mod from_bench;
mod to_bench;

use serde_json::Value;
pub use to_bench::bench;
use whylate_probes::bench::BenchReport;

/// A bench as a document of schema [`document::SCHEMA`].
pub fn render(report: &BenchReport) -> Value {
    crate::json::value(&document::Document::from(report))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<document::Document>()
}
