//! A plan as JSON.

pub mod document;
mod from_plan;

use serde_json::Value;
use whylate_tuning::Plan;

/// What tuning would change as a document of schema [`document::SCHEMA`].
pub fn render(plan: &Plan) -> Value {
    crate::json::value(&document::Document::from(plan))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<document::Document>()
}
