//! JSON with versioned schemas, generated from the types and checked in.
//!
//! Within a version fields are only ever added, and a reader ignores those it does not
//! know; taking one away or changing its meaning makes a new version.

pub mod applied;
pub mod check;
pub mod compare;
pub mod explain;
mod from_checks;
mod from_compare;
mod from_ledger;
mod from_measure;
mod from_plan;
pub mod history;
pub mod measure;
pub mod plan;
mod to_run;
pub mod verified;

use crate::Compared;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use whylate_base::Ns;
use whylate_checks::Report;
use whylate_investigate::measure::MeasureReport;
use whylate_ledger::Explanation;
use whylate_tuning::{Entry, Line, Plan, Verified};

/// An explanation as a document of schema [`explain::SCHEMA`].
///
/// ```
/// # use whylate_ledger::Explanation;
/// # let explanation = Explanation {
/// #     trace: Default::default(), tasks: vec![], activations: vec![], sections: vec![], findings: vec![], missing: vec![],
/// # };
/// let document = whylate_report::json::explanation(&explanation);
/// assert_eq!(document["schema"], "whylate.explain/1");
/// ```
pub fn explanation(explanation: &Explanation) -> Value {
    value(&explain::Document::from(explanation))
}

/// A measurement as a document of schema [`measure::SCHEMA`].
pub fn measurement(report: &MeasureReport) -> Value {
    value(&measure::Document::from(report))
}

/// Runs side by side as a document of schema [`compare::SCHEMA`].
pub fn compared(compared: &Compared) -> Value {
    value(&compare::Document::from(compared))
}

/// The JSON Schema of [`compared`]'s documents.
pub fn compared_schema() -> Value {
    schema::<compare::Document>()
}

pub use to_run::run;

/// The answers about a machine as a document of schema [`check::SCHEMA`].
pub fn checked(report: &Report) -> Value {
    value(&check::Document::from(report))
}

/// What tuning would change as a document of schema [`plan::SCHEMA`].
pub fn planned(plan: &Plan) -> Value {
    value(&plan::Document::from(plan))
}

/// The JSON Schema of [`planned`]'s documents.
pub fn planned_schema() -> Value {
    schema::<plan::Document>()
}

/// The JSON Schema of [`checked`]'s documents.
pub fn checked_schema() -> Value {
    schema::<check::Document>()
}

/// The JSON Schema of [`explanation`]'s documents.
pub fn explanation_schema() -> Value {
    schema::<explain::Document>()
}

/// The JSON Schema of [`measurement`]'s documents.
pub fn measurement_schema() -> Value {
    schema::<measure::Document>()
}

/// What was done about some applies as a document of schema [`applied::SCHEMA`].
pub fn applied(entries: &[Entry]) -> Value {
    value(&applied::Document::of(entries))
}

/// The JSON Schema of [`applied()`]'s documents.
pub fn applied_schema() -> Value {
    schema::<applied::Document>()
}

/// Whether a machine is as it was made, as a document of schema [`verified::SCHEMA`].
pub fn verified(verified: &Verified) -> Value {
    value(&verified::Document::from(verified))
}

/// The JSON Schema of [`verified()`]'s documents.
pub fn verified_schema() -> Value {
    schema::<verified::Document>()
}

/// What was applied when, as a document of schema [`history::SCHEMA`].
pub fn history(lines: &[Line]) -> Value {
    value(&history::Document::of(lines))
}

/// The JSON Schema of [`history()`]'s documents.
pub fn history_schema() -> Value {
    schema::<history::Document>()
}

fn ns(time: Option<Ns>) -> Option<i64> {
    time.map(|time| time.0)
}

fn value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).expect("plain data: string keys, no foreign Serialize")
}

fn schema<T: JsonSchema>() -> Value {
    // Of what is written: there an absent value is `null`, never an absent key.
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}
