//! The history as JSON: schema `whylate.history/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_tuning::HistoryEntry;

/// What was applied when, as a document of schema [`SCHEMA`].
pub fn render(applies: &[HistoryEntry]) -> Value {
    crate::json::value(&Document { schema: SCHEMA.to_owned(), applies: applies.to_vec() })
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.history/1";

/// What was applied when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.history/1")]
pub struct Document {
    /// Always `whylate.history/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// Every apply, first to last.
    pub applies: Vec<HistoryEntry>,
}
