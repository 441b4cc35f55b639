//! SARIF 2.1.0 (OASIS): what the logs of all reports share.

use serde_json::{Value, json};
use whylate_base::Severity;

/// The schema of the format.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A log of one run of whylate: `id` tells it from runs of other kinds, `run` is an object with its results.
pub(crate) fn log(id: &str, rules: Vec<Value>, mut run: Value) -> Value {
    run["tool"] = json!({ "driver": {
        "name": "whylate",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": rules,
    } });
    run["automationDetails"] = json!({ "id": id });
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] })
}

/// SARIF's word for a severity.
pub(crate) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}
