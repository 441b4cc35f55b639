//! SARIF 2.1.0 (OASIS), which code hosts and editors show beside the code.
//!
//! "Cannot tell" is SARIF's kind `open`: "insufficient information to decide" (3.27.9). What is no failure has
//! the level `none` (3.27.10).

use crate::check::answers::way_out_line;
use crate::file_uri::file_uri;
use crate::{sarif, words};
use serde_json::{Map, Value, json};
use whylate_checks::{CheckReport, CheckedRule, Proof, RuleStatus};

/// How many places are named for one answer; JSON has all of them.
const PLACES: usize = 20;

/// The answers about a machine as a SARIF log of one run.
pub fn render(report: &CheckReport) -> Value {
    let rules: Vec<Value> = report.answers.iter().map(rule).collect();
    let results: Vec<Value> = report.answers.iter().enumerate().map(result).collect();
    let id = format!("whylate-check/{}/", report.options.profile);
    let run = json!({
        "invocations": [{ "executionSuccessful": true }],
        "results": results,
        "properties": properties(report),
    });
    sarif::log(&id, rules, run)
}

/// What was asked of which machine; only what is known.
fn properties(report: &CheckReport) -> Value {
    let (ask, machine) = (&report.options, &report.machine);
    let all = [
        ("profile", Some(ask.profile.to_string())),
        ("cpus", ask.cpus.as_ref().map(ToString::to_string)),
        ("priority", ask.priority.map(|priority| priority.to_string())),
        ("user", ask.user.clone()),
        ("release", machine.release.clone()),
        ("kernelVersion", machine.version.clone()),
        ("onlineCpus", machine.cpus.clone()),
        ("model", machine.model.clone()),
    ];
    let known = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::String(value?))));
    Value::Object(known.collect::<Map<String, Value>>())
}

fn rule(answered: &CheckedRule) -> Value {
    let rule = answered.rule;
    let profiles: Vec<&str> = rule.profiles.iter().map(|profile| profile.name()).collect();
    json!({
        "id": rule.code,
        "shortDescription": { "text": format!("{}.", rule.title) },
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": { "level": sarif::level(rule.severity) },
        "properties": { "tags": profiles, "sources": rule.sources },
    })
}

fn result((index, answered): (usize, &CheckedRule)) -> Value {
    let (kind, level, text, proofs) = match &answered.verdict {
        Ok(answer) => {
            let (kind, level) = match answer.status {
                RuleStatus::Fail => ("fail", sarif::level(answered.severity())),
                RuleStatus::Pass => ("pass", "none"),
                RuleStatus::NotApplicable => ("notApplicable", "none"),
            };
            let mut text = sentence(&answer.what);
            if !answer.why.is_empty() {
                text += &format!(" {}", sentence(&answer.why));
            }
            text += &sarif::fixes(answer.fixes.iter().map(way_out_line));
            (kind, level, text, answer.evidence.clone())
        }
        Err(unknown) => {
            let text = format!("Cannot tell: {} is not known: {}", unknown.path, unknown.why);
            let proof = Proof { path: unknown.path.clone(), value: unknown.why.clone() };
            ("open", "none", sentence(&text), vec![proof])
        }
    };
    let locations: Vec<Value> = proofs.iter().take(PLACES).map(location).collect();
    json!({
        "ruleId": answered.rule.code,
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": { "text": text },
        "locations": locations,
        // One answer to a rule: the same rule in the next run is the same finding.
        "partialFingerprints": { "rule/v1": answered.rule.code },
    })
}

/// A file of the machine as a physical place; a thread or a sum as a logical one.
fn location(proof: &Proof) -> Value {
    let seen = json!({ "text": format!("{} = {}", words::clean(&proof.path), words::clean(&proof.value)) });
    match proof.path.strip_prefix('/') {
        Some(_) if !proof.path.contains(' ') => json!({
            "physicalLocation": { "artifactLocation": { "uri": file_uri(&proof.path) } },
            "message": seen,
        }),
        _ => json!({
            "logicalLocations": [{ "fullyQualifiedName": words::clean(&proof.path) }],
            "message": seen,
        }),
    }
}

/// Text of ours or of the machine, ended with a full stop.
fn sentence(text: &str) -> String {
    let text = words::clean(text);
    if text.ends_with(['.', '!', '?']) { text } else { text + "." }
}
