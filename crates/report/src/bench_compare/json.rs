//! The differences of two benches as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_probes::bench::{BenchAnswer, BenchComparison, BenchDifference};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.bench-compare/1";

/// The differences as a document of schema [`SCHEMA`].
pub fn render(comparison: &BenchComparison) -> Value {
    crate::json::value(&Document::from(comparison))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// Two benches of one kind, compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.bench-compare/1")]
pub struct Document {
    /// Always `whylate.bench-compare/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// What both are about: `clock`, `socket`, `memory` or `thread`.
    pub kind: String,
    /// The operations of both.
    pub rows: Vec<Difference>,
    /// Operations that only the earlier one has.
    pub only_before: Vec<String>,
    /// Operations that only the later one has.
    pub only_after: Vec<String>,
}

/// One operation of both benches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The operation.
    pub name: String,
    /// The median before, in nanoseconds per operation.
    pub before_ns: f64,
    /// The median after.
    pub after_ns: f64,
    /// The change, as a share of the median before.
    pub change: f64,
    /// Whether it is more than noise.
    pub answer: Answer,
}

/// Whether an operation differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Every round after was faster than every round before.
    Faster,
    /// Every round after was slower than every round before.
    Slower,
    /// The rounds overlap.
    Noise,
    /// Too few rounds on one side.
    CannotTell,
}

impl From<&BenchComparison> for Document {
    fn from(comparison: &BenchComparison) -> Self {
        Document {
            schema: SCHEMA.to_owned(),
            kind: comparison.kind.name().to_owned(),
            rows: comparison.differences.iter().map(Difference::from).collect(),
            only_before: comparison.only_before.clone(),
            only_after: comparison.only_after.clone(),
        }
    }
}

impl From<&BenchDifference> for Difference {
    fn from(difference: &BenchDifference) -> Self {
        Difference {
            name: difference.name.clone(),
            before_ns: difference.before.0,
            after_ns: difference.after.0,
            change: difference.change,
            answer: match difference.answer {
                BenchAnswer::Faster => Answer::Faster,
                BenchAnswer::Slower => Answer::Slower,
                BenchAnswer::Noise => Answer::Noise,
                BenchAnswer::CannotTell => Answer::CannotTell,
            },
        }
    }
}
