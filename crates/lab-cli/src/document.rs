//! The JSON document of `whylate-lab run --json`, and its schema.

use crate::matrix::RunResult;
use crate::score::Score;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The name and version of the schema. Within a version fields are only ever added.
pub const SCHEMA: &str = "whylate.lab-run/2";

/// Every run of a matrix, and the totals.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "whylate.lab-run/2")]
pub struct Document {
    /// Always `whylate.lab-run/2`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The runs, in the order in which they ended.
    pub runs: Vec<RunResult>,
    /// The totals.
    pub score: Score,
}

/// The results of a matrix as a document.
pub fn of(runs: Vec<RunResult>, score: Score) -> Value {
    let document = Document { schema: SCHEMA.to_owned(), runs, score };
    serde_json::to_value(document).expect("plain data: string keys, UTF-8 paths or none")
}

/// The JSON Schema of these documents.
pub fn schema() -> Value {
    // Of what is written: there an absent value is `null`, never an absent key.
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Document>()
        .to_value()
}
