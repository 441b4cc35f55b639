//! The wire types of schema `whylate.check/1`.

use crate::explain::json::document::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_base::Action;

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.check/1";

/// Whether a machine is ready for real-time work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.check/1")]
pub struct Document {
    /// Always `whylate.check/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The machine.
    pub machine: Machine,
    /// What was asked.
    pub ask: Ask,
    /// How many answers there are of each kind.
    pub totals: Totals,
    /// Every rule that was asked, in a fixed order.
    pub answers: Vec<Answer>,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// `uname -r`; null where not known.
    pub release: Option<String>,
    /// `uname -v`; null where not known.
    pub version: Option<String>,
    /// The CPUs online, as a list; null where not known.
    pub cpus: Option<String>,
    /// Its model; null where not known.
    pub model: Option<String>,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    /// The sort of work, such as `realtime`.
    pub profile: String,
    /// The chosen CPUs, as a list; null where none were chosen.
    pub cpus: Option<String>,
    /// The user's priority, 1 to 99; null where not given.
    pub priority: Option<u32>,
    /// The user that is to run it; null where not given.
    pub user: Option<String>,
}

/// How many answers there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// As it should be.
    pub pass: u64,
    /// Not as it should be.
    pub fail: u64,
    /// Something that had to be known is not.
    pub cannot_tell: u64,
    /// The question does not arise.
    pub not_applicable: u64,
}

/// A rule's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The rule; `whylate check --explain CODE` prints its page.
    pub code: String,
    /// What is well when it passes.
    pub title: String,
    /// How it is.
    pub status: Status,
    /// How much a failure matters.
    pub severity: Severity,
    /// What was found.
    pub what: String,
    /// Why it matters; of `cannot-tell`, why not. Empty for the others.
    pub why: String,
    /// What shows it.
    pub evidence: Vec<Proof>,
    /// What to do, best first.
    pub fix: Vec<Fix>,
    /// Where several ways lead to the same aim: each with its state and cost on this machine.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// Where the facts are from.
    pub sources: Vec<String>,
}

/// One of several ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The way.
    pub name: String,
    /// Its state and cost on this machine.
    pub here: String,
}

/// How it is with what a rule asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// As it should be.
    Pass,
    /// Not as it should be.
    Fail,
    /// Something that had to be known is not.
    CannotTell,
    /// The question does not arise.
    NotApplicable,
}

/// What was read where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// The file, or its owner.
    pub path: String,
    /// Its content.
    pub value: String,
}

/// A way out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fix {
    /// A command that works at once; null where there is none.
    pub runtime: Option<String>,
    /// What makes it last; null where nothing is known.
    pub boot: Option<String>,
    /// What may go wrong; null where nothing is known.
    pub risk: Option<String>,
    /// Whether it works only after a reboot.
    pub reboot: bool,
    /// The settings, which `whylate plan --from` plans; of kind `code` the reason why no setting makes it. Null in documents
    /// of older versions.
    #[serde(default)]
    #[schemars(!default)]
    #[schemars(with = "Option<crate::explain::json::action::Action>")]
    pub action: Option<Action>,
}
