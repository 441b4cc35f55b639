//! An explanation as JSON.

pub(crate) mod action;
pub mod actors;
pub mod chain;
pub mod confidence;
pub mod document;
pub(crate) mod from_ledger;
pub mod host;
pub mod location;
pub mod peer;
mod profile;
pub mod recording;

pub use from_ledger::activation;

use serde_json::Value;
use whylate_ledger::Explanation;

/// An explanation as a document of schema [`document::SCHEMA`].
///
/// ```
/// # use whylate_ledger::Explanation;
/// # let explanation = Explanation {
/// #     trace: Default::default(), tasks: vec![], unlisted: 0, activations: vec![], sections: vec![], profiles: vec![], findings: vec![], missing: vec![],
/// #     chains: None, candidates: None, waits_beside: None, scope: None, stands_still: false, host: None, peer: None,
/// # };
/// let document = whylate_report::explain::json::render(&explanation);
/// assert_eq!(document["schema"], "whylate.explain/1");
/// ```
pub fn render(explanation: &Explanation) -> Value {
    crate::json::value(&document::Document::from(explanation))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<document::Document>()
}
