//! How sure an answer is, on the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How sure an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A guess that fits; another cause would look the same in this recording.
    Low,
    /// Likely; something that would prove it was not recorded.
    Medium,
    /// The recording shows it.
    High,
}

pub(super) fn confidence(confidence: whylate_base::Confidence) -> Confidence {
    match confidence {
        whylate_base::Confidence::Low => Confidence::Low,
        whylate_base::Confidence::Medium => Confidence::Medium,
        whylate_base::Confidence::High => Confidence::High,
    }
}
