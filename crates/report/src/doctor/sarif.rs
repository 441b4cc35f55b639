//! SARIF 2.1.0 (OASIS): a code review shows each mistake at its line.

use crate::{sarif, words};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use whylate_investigate::doctor::{DoctorFinding, DoctorReport, page};

/// The mistakes as a SARIF log of one run.
pub fn render(report: &DoctorReport) -> Value {
    let codes: Vec<&str> =
        report.findings.iter().map(|finding| finding.code).collect::<BTreeSet<_>>().into_iter().collect();
    let rules: Vec<Value> =
        codes.iter().map(|code| sarif::rule(code, page(code).unwrap_or_default())).collect();
    let results: Vec<Value> = report.findings.iter().map(|finding| result(finding, &codes)).collect();
    let notifications: Vec<Value> = report
        .unseen
        .iter()
        .map(|sentence| json!({ "level": "warning", "message": { "text": words::clean(sentence) } }))
        .collect();
    let run = json!({
        "invocations": [{
            "executionSuccessful": true,
            "toolExecutionNotifications": notifications,
        }],
        "results": results,
    });
    sarif::log("whylate-doctor/", rules, run)
}

fn result(finding: &DoctorFinding, codes: &[&str]) -> Value {
    let mut text = format!("{}. {}.", words::clean(&finding.title), words::clean(&finding.why));
    text += &sarif::fixes(finding.fix.iter().map(|fix| words::clean(&fix.text)));
    let locations: Vec<Value> = finding.location.iter().filter_map(sarif::location).collect();
    let other = finding.other.iter().filter_map(|(_, other)| other.as_ref());
    let related: Vec<Value> = other.filter_map(sarif::location).collect();
    json!({
        "ruleId": finding.code,
        "ruleIndex": codes.iter().position(|code| *code == finding.code),
        "level": sarif::level(finding.severity),
        "message": { "text": text },
        "locations": locations,
        "relatedLocations": related,
        "occurrenceCount": finding.count,
    })
}
