//! The trace as a whole: findings, what is unknown, what was lost.

use super::activation::{evidence, fixes};
use crate::explain::facts;
use crate::terminal::layout::Page;
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::{Finding, Severity};
use whylate_ledger::Explanation;

/// How many findings are written in full, apart from errors, which all are.
const IN_FULL: usize = 4;
/// How many places of damage are listed.
const PLACES: usize = 5;

/// Errors in full, the first few others as well, the rest as one line each.
pub(crate) fn findings(page: &mut Page, findings: &[Finding]) {
    for (i, finding) in findings.iter().enumerate() {
        let in_full = finding.severity == Severity::Error || i < IN_FULL;
        if in_full || i == IN_FULL {
            page.gap();
        }
        let ink = match finding.severity {
            Severity::Error => Ink::Red,
            Severity::Warning => Ink::Yellow,
            Severity::Info => Ink::Cyan,
        };
        let label = format!("{}[{}]: ", finding.severity, finding.code);
        let title = if in_full { Ink::Strong } else { Ink::Plain };
        page.led(0, (&label, ink), &words::clean(&finding.title), title);
        if !in_full {
            continue;
        }
        if !finding.why.is_empty() {
            page.paragraph(2, &words::clean(&finding.why), Ink::Plain);
        }
        evidence(page, 2, &finding.evidence);
        fixes(page, 2, &finding.fix);
    }
}

/// One line behind the findings, or in place of them.
pub(crate) fn closing(page: &mut Page, explanation: &Explanation) {
    if let Some(text) = crate::closing::closing(explanation) {
        page.gap();
        page.paragraph(0, &text, Ink::Strong);
    }
}

/// What the recording cannot show.
pub(crate) fn limits(page: &mut Page, explanation: &Explanation) {
    let trace = &explanation.trace;
    let missing = &explanation.missing;
    if !missing.is_empty() {
        page.gap();
        page.line(&[("Cannot tell from this recording", Ink::Yellow)]);
        for missing in missing {
            let points = missing.kind.tracepoints().join(" ");
            let remedy = if points.is_empty() { String::new() } else { format!(": record {points}") };
            page.labelled(2, ("- ", Ink::Faint), &format!("{}{remedy}", missing.cannot_tell), Ink::Plain);
        }
    }
    if trace.lost_events > 0 || !trace.damage.is_empty() {
        page.gap();
        page.line(&[("Incomplete recording", Ink::Yellow)]);
    }
    if let Some(quality) = words::quality(trace) {
        page.labelled(2, ("- ", Ink::Faint), quality, Ink::Plain);
    }
    if trace.lost_events > 0 {
        page.labelled(2, ("- ", Ink::Faint), &facts::lost(trace.lost_events), Ink::Plain);
    }
    for damage in trace.damage.iter().take(PLACES) {
        page.labelled(2, ("- ", Ink::Faint), &words::clean(&damage.to_string()), Ink::Plain);
    }
    if trace.damage.len() > PLACES {
        let more = words::plural((trace.damage.len() - PLACES) as u64, "more place");
        page.labelled(2, ("- ", Ink::Faint), &more, Ink::Plain);
    }
}

/// How the recording of the host was joined.
pub(crate) fn host(page: &mut Page, explanation: &Explanation) {
    let facts = facts::host(explanation);
    if !facts.is_empty() {
        page.gap();
        page.line(&[("Host", Ink::Yellow)]);
    }
    for fact in facts {
        page.labelled(2, ("- ", Ink::Faint), &fact, Ink::Plain);
    }
}

/// What the sampled call stacks do not show.
pub(crate) fn stacks(page: &mut Page, explanation: &Explanation) {
    let notes = facts::stacks(&explanation.trace);
    if !notes.is_empty() {
        page.gap();
        page.line(&[("Call stacks", Ink::Yellow)]);
    }
    for note in notes {
        page.labelled(2, ("- ", Ink::Faint), &note, Ink::Plain);
    }
}

pub(crate) fn footer(page: &mut Page, explanation: &Explanation) {
    page.gap();
    page.facts(&words::trace(&explanation.trace));
}
