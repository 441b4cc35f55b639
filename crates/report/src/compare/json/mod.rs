//! Runs side by side as JSON.

pub mod document;
mod from_compare;

use crate::compare::Compared;
use serde_json::Value;

/// Runs side by side as a document of schema [`document::SCHEMA`].
pub fn render(compared: &Compared) -> Value {
    crate::json::value(&document::Document::from(compared))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<document::Document>()
}
