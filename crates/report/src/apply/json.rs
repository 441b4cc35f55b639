//! Applies and rollbacks as JSON: schema `whylate.apply/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_tuning::{ApplyReport, JournalEntry};

/// What was done in some applies, as a document of schema [`SCHEMA`].
pub fn render(entries: &[JournalEntry]) -> Value {
    let applies = entries.iter().map(ApplyReport::from).collect();
    crate::json::value(&Document { schema: SCHEMA.to_owned(), applies })
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.apply/1";

/// What was done to a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.apply/1")]
pub struct Document {
    /// Always `whylate.apply/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The applies that were worked on, in that order: one, or those that a rollback undid.
    pub applies: Vec<ApplyReport>,
}
