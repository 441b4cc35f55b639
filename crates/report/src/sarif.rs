//! SARIF 2.1.0 (OASIS): what the logs of all reports share.

use crate::file_uri::file_uri;
use crate::words;
use serde_json::{Value, json};
use whylate_base::{Severity, SourceLocation};

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

/// A rule without more than its code and its page.
pub(crate) fn rule(code: &str, page: &str) -> Value {
    json!({
        "id": code,
        "shortDescription": { "text": code },
        "help": { "text": page, "markdown": page },
    })
}

/// The lines of a message that list fixes, best first, each behind a line break.
pub(crate) fn fixes(fixes: impl IntoIterator<Item = String>) -> String {
    let line = |(i, fix): (usize, String)| format!("\n{}: {fix}", if i == 0 { "Fix" } else { "Or" });
    fixes.into_iter().enumerate().map(line).collect()
}

/// SARIF's word for a severity.
pub(crate) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A source line as a physical place, anything else as a logical one.
pub(crate) fn location(location: &SourceLocation) -> Option<Value> {
    let function =
        location.function.as_ref().map(|name| json!([{ "fullyQualifiedName": words::clean(name) }]));
    match (&location.file, location.line) {
        (Some(file), Some(line)) => Some(json!({
            "physicalLocation": {
                "artifactLocation": { "uri": file_uri(file) },
                "region": { "startLine": line },
            },
            "logicalLocations": function.unwrap_or_else(|| json!([])),
        })),
        _ => Some(json!({ "logicalLocations": function? })),
    }
}
