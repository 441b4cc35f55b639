//! What a verification finds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_profiles::Skipped;

/// Whether a machine still has the settings that were applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// The applies that are in effect, by number.
    pub applies: Vec<u64>,
    /// How many targets are as they were set.
    pub as_made: u64,
    /// How many threads have ended since.
    pub ended: u64,
    /// What is not as it was set.
    pub drifts: Vec<Drift>,
    /// What cannot be verified, and why.
    pub unknown: Vec<Skipped>,
    /// Optional settings that were refused when they were to be set, and why. No drift.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// Kernel parameters that take effect at the next boot.
    pub pending: Vec<String>,
    /// What the same profile would change now and no apply has set: threads, interrupts and devices that came since. No
    /// drift.
    #[serde(default)]
    pub uncovered: Vec<Uncovered>,
}

/// Something that is not as it was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// The apply that set it.
    pub id: u64,
    /// What: a path, `policy of NAME (TID)`, `kernel parameter NAME`.
    pub what: String,
    /// The settings it is for, by name.
    pub settings: Vec<String>,
    /// Its state before the apply; null: unknown.
    pub before: Option<String>,
    /// The state that was applied; empty for an apply that did not get to its end.
    pub made: String,
    /// Its state now.
    pub now: String,
    /// Programs and files that changed it, or may have, most likely first; empty: unknown.
    pub who: Vec<String>,
}

/// A desired setting that no apply has made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Uncovered {
    /// The setting, by name.
    pub setting: String,
    /// Its value now; null: it is absent.
    pub now: Option<String>,
    /// The desired value; null: it is to be absent.
    #[serde(rename = "wished")]
    pub desired: Option<String>,
}
