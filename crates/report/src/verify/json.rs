//! A verification as JSON: schema `whylate.verify/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_tuning::Verification;

/// Whether a machine still has the settings that were applied, as a document of schema [`SCHEMA`].
pub fn render(verification: &Verification) -> Value {
    crate::json::value(&Document { schema: SCHEMA.to_owned(), verification: verification.clone() })
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.verify/1";

/// Whether a machine still has the settings that were applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.verify/1")]
pub struct Document {
    /// Always `whylate.verify/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// What was found.
    #[serde(flatten)]
    pub verification: Verification,
}
