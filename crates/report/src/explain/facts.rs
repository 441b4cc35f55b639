//! What the renderers of an explanation share: the answer in one line, and its limits.

use crate::words;
use whylate_base::Severity;
use whylate_ledger::{Activation, Cause, Explanation};

/// The answer in one line: the gravest finding, or else the worst activation.
pub(crate) fn title(explanation: &Explanation) -> String {
    let grave = explanation.findings.first().filter(|finding| finding.severity == Severity::Error);
    match (grave, worst(explanation)) {
        (Some(finding), _) => words::clean(&finding.title),
        (None, Some(worst)) => {
            format!("{} {}", words::thread(&worst.comm, worst.tid), words::lateness(worst))
        }
        (None, None) if !explanation.findings.is_empty() && explanation.concludes() => {
            explanation.findings.first().map_or_else(String::new, |finding| words::clean(&finding.title))
        }
        (None, None) if explanation.tasks.is_empty() => "No thread to explain".to_owned(),
        (None, None) => "No activation seen".to_owned(),
    }
}

/// The worst activation that something else made late, or else the worst.
pub(crate) fn worst(explanation: &Explanation) -> Option<&Activation> {
    let late = |activation: &&Activation| activation.verdict.cause != Cause::OwnWork;
    explanation.activations.iter().find(late).or(explanation.activations.first())
}

/// What a recording cannot show, was lost, or could not be read.
pub(crate) fn limits(explanation: &Explanation) -> Vec<String> {
    let trace = &explanation.trace;
    let missing = explanation.missing.iter().map(|missing| {
        let points = missing.kind.tracepoints().join(" ");
        let remedy = if points.is_empty() { String::new() } else { format!(": record {points}") };
        format!("cannot tell {}{remedy}", missing.cannot_tell)
    });
    let lost = (trace.lost_events > 0).then(|| lost(trace.lost_events));
    let quality = words::quality(trace).map(str::to_owned);
    let damage = trace.damage.iter().map(|damage| format!("damage {}", words::clean(&damage.to_string())));
    missing.chain(lost).chain(quality).chain(damage).collect()
}

/// How many events the kernel lost, and what that means.
pub(crate) fn lost(events: u64) -> String {
    format!(
        "{} lost by the kernel: answers near the gaps are less sure; larger buffers lose less",
        words::plural(events, "event")
    )
}
