//! SARIF 2.1.0 (OASIS): a code review shows each finding, and the verdict on each thread's worst activation at the line
//! that the call stacks show.

use crate::{sarif, words};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity, SourceLocation};
use whylate_ledger::{Activation, Cause, Explanation, TaskSummary, finding_page};

/// An explanation as a SARIF log of one run.
pub fn render(explanation: &Explanation) -> Value {
    let by_thread = explanation.activations_by_thread();
    let worst = |task: &TaskSummary| by_thread.get(&task.tid).and_then(|all| all.first()).copied();
    let verdicts: Vec<&Activation> =
        explanation.tasks.iter().filter_map(worst).filter(|worst| is_accused(worst)).collect();
    let of_findings = explanation.findings.iter().map(|finding| finding.code);
    let codes: BTreeSet<&str> =
        of_findings.chain(verdicts.iter().map(|worst| worst.verdict.cause.code())).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let results: Vec<Value> = explanation
        .findings
        .iter()
        .map(|finding| of_finding(finding, &codes))
        .chain(verdicts.iter().map(|worst| of_verdict(worst, &codes)))
        .collect();
    let rules: Vec<Value> =
        codes.iter().map(|code| sarif::rule(code, finding_page(code).unwrap_or_default())).collect();
    let concludes = explanation.concludes();
    let run = json!({
        "invocations": [{ "executionSuccessful": concludes }],
        "results": results,
    });
    sarif::log("whylate-explain/", rules, run)
}

/// Whether an activation's verdict names a cause: own work is what the thread is for.
fn is_accused(activation: &Activation) -> bool {
    !matches!(activation.verdict.cause, Cause::OwnWork | Cause::Unexplained)
}

fn of_finding(finding: &Finding, codes: &[&str]) -> Value {
    let text = format!("{}. {}", words::clean(&finding.title), words::clean(&finding.why));
    result(finding.code, finding.severity, text, &finding.fix, places(&finding.evidence), codes)
}

fn of_verdict(activation: &Activation, codes: &[&str]) -> Value {
    let verdict = &activation.verdict;
    let text = format!(
        "Worst activation of {}: {}, {}. {} ({} confidence)",
        words::clean(&words::thread(&activation.comm, activation.tid)),
        words::due_at(activation),
        words::lateness(activation),
        words::clean(&verdict.why),
        verdict.confidence,
    );
    let segments = activation.ledger.iter().enumerate();
    let accused = segments.filter(|(_, segment)| segment.cause == verdict.cause);
    let own = accused.filter_map(|(index, _)| activation.place(index));
    let places = own.chain(places(&verdict.evidence)).collect::<Vec<_>>();
    result(verdict.cause.code(), Severity::Info, text, &verdict.fix, places, codes)
}

fn places(evidence: &[Evidence]) -> Vec<&SourceLocation> {
    evidence.iter().filter_map(|seen| seen.location.as_ref()).collect()
}

fn result(
    code: &str,
    severity: Severity,
    mut text: String,
    fixes: &[AdvisedFix],
    places: Vec<&SourceLocation>,
    codes: &[&str],
) -> Value {
    text += &sarif::fixes(fixes.iter().map(|fix| words::clean(&fix.text)));
    let mut known: Vec<&SourceLocation> = Vec::new();
    for place in places {
        if !known.contains(&place) {
            known.push(place);
        }
    }
    json!({
        "ruleId": code,
        "ruleIndex": codes.iter().position(|known| *known == code),
        "level": sarif::level(severity),
        "message": { "text": text },
        "locations": known.into_iter().filter_map(sarif::location).collect::<Vec<_>>(),
    })
}
