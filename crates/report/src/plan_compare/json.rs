//! A comparison of settings as JSON: schema `whylate.plan-compare/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_tuning::{Agreement, SettingsComparison};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.plan-compare/1";

/// The comparison as a document of schema [`SCHEMA`].
pub fn render(comparison: &SettingsComparison) -> Value {
    crate::json::value(&Document::from(comparison))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// Two profiles or machines, setting by setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.plan-compare/1")]
pub struct Document {
    /// Always `whylate.plan-compare/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// How many settings there are of each kind.
    pub totals: Totals,
    /// The comparison.
    #[serde(flatten)]
    pub comparison: SettingsComparison,
}

/// How many settings there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Settings of either side.
    pub settings: u64,
    /// Settings that are the same on both sides.
    pub same: u64,
    /// Settings that differ, or that only one side sets.
    pub different: u64,
    /// Settings of a machine that could not be read.
    pub cannot_tell: u64,
}

impl From<&SettingsComparison> for Document {
    fn from(comparison: &SettingsComparison) -> Document {
        let count = |agreement| comparison.count(agreement) as u64;
        Document {
            schema: SCHEMA.to_owned(),
            totals: Totals {
                settings: comparison.settings.len() as u64,
                same: count(Agreement::Same),
                different: count(Agreement::Different),
                cannot_tell: count(Agreement::CannotTell),
            },
            comparison: comparison.clone(),
        }
    }
}
