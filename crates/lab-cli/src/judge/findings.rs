//! Findings of a run: those that must be there, and those that name a wrong culprit.

use super::circumstances::Circumstances;
use crate::label::Label;
use crate::scenario::{Expectation, Late};
use std::collections::HashSet;
use whylate_base::{Finding, Severity};
use whylate_ledger::{Cause, Explanation};

/// Findings without a culprit: they are about the recording, or about a limit that the user gave.
pub(crate) const NEUTRAL: [&str; 4] = ["trace-loss", "unseen-switches", "deadline-missed", "unexplained"];

/// The findings that name a wrong culprit, by code and title.
pub(super) fn wrong(
    label: &Label,
    explanation: &Explanation,
    expected: &Expectation,
    faults: &HashSet<&str>,
    circumstances: Circumstances,
) -> Vec<String> {
    let is_in = |list: &[String], finding: &Finding| list.iter().any(|code| code == finding.code);
    let is_wrong = |finding: &&Finding| {
        if is_in(&expected.no_findings, finding) {
            return true;
        }
        let allowed = is_in(&expected.causes, finding)
            || is_in(&expected.findings, finding)
            || is_in(&expected.may_find, finding)
            || faults.contains(finding.code)
            || NEUTRAL.contains(&finding.code)
            || (circumstances.host_noise && finding.code == Cause::Stolen.code());
        // In a run with a fault the verdicts of the late jobs are judged already, and other threads of the run are
        // late for reasons of their own.
        let judged_elsewhere = Cause::from_code(finding.code).is_some_and(Cause::has_culprit_finding)
            && (expected.late != Late::None || !concerns_victim(label, explanation, finding));
        finding.severity >= Severity::Warning && !allowed && !judged_elsewhere
    };
    let wrong = explanation.findings.iter().filter(is_wrong);
    wrong.map(|finding| format!("{}: {}", finding.code, finding.title)).collect()
}

/// True when the finding sums up verdicts on a victim, or on a thread that has no part in the run.
fn concerns_victim(label: &Label, explanation: &Explanation, finding: &Finding) -> bool {
    let plays = |tid| label.threads.iter().any(|member| member.tid == tid);
    explanation.activations.iter().any(|activation| {
        activation.verdict.cause.code() == finding.code
            && (label.is_victim(activation.tid) || !plays(activation.tid))
    })
}

/// The codes of expected findings that are missing.
pub(super) fn missing(explanation: &Explanation, expected: &Expectation) -> Vec<String> {
    let there = |code: &&String| explanation.findings.iter().any(|finding| finding.code == code.as_str());
    expected.findings.iter().filter(|code| !there(code)).cloned().collect()
}
