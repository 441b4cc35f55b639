//! The steps of a start as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_threads::run::{self, RunReport};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.run/1";

/// The steps of a start, and what is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.run/1")]
pub struct Document {
    /// Always `whylate.run/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// In the order in which they are made.
    pub steps: Vec<Step>,
    /// What is refused; empty: it can be done.
    pub refused: Vec<Refusal>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// What is done: `SCHED_FIFO priority 50`.
    pub step: String,
    /// Whether it can be done, or was; null: cannot tell.
    pub ok: Option<bool>,
    /// What shows it.
    pub reason: Option<String>,
}

/// A refusal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// What is refused.
    pub what: String,
    /// The kernel's error, such as `EPERM`; null: whylate refuses it.
    pub errno: Option<String>,
    /// The check that refuses: `rlimit-rtprio`, `cap-sys-nice`, `user-namespace`, `rt-group`, `seccomp`,
    /// `deadline-admission`, `root-domain`, `starvation` and others.
    pub gate: String,
    /// Why, in a sentence.
    pub why: String,
    /// Files with their values that show it.
    pub evidence: Vec<String>,
    /// What to do, best first.
    pub fix: Vec<String>,
}

/// The steps as a document of schema [`SCHEMA`].
pub fn render(report: &RunReport) -> Value {
    crate::json::value(&Document::from(report))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

impl From<&RunReport> for Document {
    fn from(report: &RunReport) -> Document {
        let step =
            |step: &run::RunStep| Step { step: step.step.clone(), ok: step.ok, reason: step.reason.clone() };
        Document {
            schema: SCHEMA.to_owned(),
            steps: report.steps.iter().map(step).collect(),
            refused: report.refused.iter().map(Refusal::from).collect(),
        }
    }
}

impl From<&run::Refusal> for Refusal {
    fn from(refusal: &run::Refusal) -> Refusal {
        Refusal {
            what: refusal.what.clone(),
            errno: refusal.errno.map(str::to_owned),
            gate: refusal.gate.to_owned(),
            why: refusal.why.clone(),
            evidence: refusal.evidence.clone(),
            fix: refusal.fix.clone(),
        }
    }
}
