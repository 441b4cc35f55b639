//! The wire types of schema `whylate.verify/1`: whether a machine is as it was made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_tuning::Verification;

/// Whether a machine still has the settings that were applied, as a document of schema [`SCHEMA`].
pub fn render(verified: &Verification) -> Value {
    crate::json::value(&Document::from(verified))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.verify/1";

/// Whether a machine is as it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.verify/1")]
pub struct Document {
    /// Always `whylate.verify/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The applies that are in effect, by number.
    pub applies: Vec<u64>,
    /// How many cells are as they were made.
    pub as_made: u64,
    /// How many threads have ended since.
    pub ended: u64,
    /// What is not as it was made.
    pub drifts: Vec<Drift>,
    /// What cannot be told.
    pub unknown: Vec<Unknown>,
    /// Kernel parameters that count from the next boot on.
    pub pending: Vec<String>,
    /// What the same wishes would change now and no apply has made: it came since. No drift.
    #[serde(default)]
    pub uncovered: Vec<Uncovered>,
}

/// Something that is not as wished, and that no apply has made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Uncovered {
    /// Which setting.
    pub setting: String,
    /// How it is; null: it is not there.
    pub now: Option<String>,
    /// How it is wished; null: not to be there.
    pub wished: Option<String>,
}

/// Something that is not as it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// The apply that made it.
    pub id: u64,
    /// What: a path, `policy of NAME (TID)`, `kernel parameter NAME`.
    pub what: String,
    /// The settings it is for.
    pub settings: Vec<String>,
    /// How it was before the apply; null where not known.
    pub before: Option<String>,
    /// How it was made.
    pub made: String,
    /// How it is.
    pub now: String,
    /// Who changed it, or may have, best founded first; empty where not known.
    pub who: Vec<String>,
}

/// Something that cannot be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unknown {
    /// What.
    pub what: String,
    /// Why not.
    pub why: String,
}

impl From<&Verification> for Document {
    fn from(verified: &Verification) -> Document {
        let drifts = verified.drifts.iter().map(|drift| Drift {
            id: drift.id,
            what: drift.what.clone(),
            settings: drift.settings.clone(),
            before: drift.before.clone(),
            made: drift.made.clone(),
            now: drift.now.clone(),
            who: drift.who.clone(),
        });
        let unknown =
            verified.unknown.iter().map(|(what, why)| Unknown { what: what.clone(), why: why.clone() });
        let uncovered = verified.uncovered.iter().map(|one| Uncovered {
            setting: one.setting.clone(),
            now: one.now.clone(),
            wished: one.desired.clone(),
        });
        Document {
            schema: SCHEMA.to_owned(),
            applies: verified.ids.clone(),
            as_made: verified.as_made as u64,
            ended: verified.ended as u64,
            drifts: drifts.collect(),
            unknown: unknown.collect(),
            pending: verified.pending.clone(),
            uncovered: uncovered.collect(),
        }
    }
}
