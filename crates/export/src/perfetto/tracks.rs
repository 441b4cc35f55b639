//! The explanation as tracks: for each thread its activations, in them what their time was charged to.

use super::packets::Packets;
use super::slices::{ROOT, begin, event, number, rows, share, text, track, track_event};
use crate::cut::Selected;
use crate::names;
use std::io;
use whylate_base::{AdvisedFix, Finding, Ns};
use whylate_ledger::{Activation, Explanation, Segment, TaskSummary, thread_name};

const FINDINGS: u64 = ROOT + 1;
const FIRST_THREAD: u64 = ROOT + 2;

/// Writes the tracks of an explanation, as far as it lies in the cut; gives back how many activations that were, and the
/// first number that no track has.
pub(super) fn write(
    explanation: &Explanation,
    selected: &Selected<'_>,
    packets: &mut Packets<'_>,
) -> io::Result<(u64, u64)> {
    begin(packets)?;
    findings(explanation, packets)?;
    let mut written = 0;
    let mut uuid = FIRST_THREAD;
    for task in &explanation.tasks {
        let mut activations: Vec<&Activation> = explanation
            .activations
            .iter()
            .filter(|activation| {
                activation.tid == task.tid && selected.overlaps(activation.due, activation.end)
            })
            .collect();
        activations.sort_by_key(|activation| (activation.due, activation.end));
        written += activations.len() as u64;
        for row in rows(&activations, |activation| (activation.due, activation.end)) {
            let rank = uuid - FINDINGS;
            track(
                packets,
                uuid,
                rank,
                &format!("whylate: {}", thread_name(&task.comm, task.tid)),
                &about(task),
            )?;
            row.into_iter().try_for_each(|activation| write_activation(packets, uuid, activation))?;
            uuid += 1;
        }
    }
    Ok((written, uuid))
}

fn about(task: &TaskSummary) -> String {
    let policy = task.policy.map_or_else(String::new, |policy| format!("{}, ", policy.name()));
    format!("{policy}{}; {} activations in the trace", task.priority, task.activations)
}

fn write_activation(packets: &mut Packets<'_>, uuid: u64, activation: &Activation) -> io::Result<()> {
    let verdict = &activation.verdict;
    let by = verdict.by.as_ref().map(ToString::to_string);
    let name = called(verdict.cause.code(), by.as_deref());
    event(packets, activation.due, uuid, track_event::BEGIN, &name, |out| {
        text(out, "cause", verdict.cause.code());
        if let Some(by) = &by {
            text(out, "by", by);
        }
        text(out, "why", &verdict.why);
        text(out, "fix", &texts(&verdict.fix));
        text(out, "confidence", &verdict.confidence.to_string());
        number(out, "charged_ns", verdict.charged);
        share(out, verdict.share);
        if let Some(latency) = activation.latency() {
            number(out, "latency_ns", latency);
        }
        number(out, "response_ns", activation.response());
        text(out, "trigger", &names::trigger(&activation.trigger));
        text(out, "priority", &activation.priority.to_string());
    })?;
    // What takes no time would be closed before it is seen.
    for segment in activation.ledger.iter().filter(|segment| segment.end > segment.start) {
        write_segment(packets, uuid, segment)?;
    }
    event(packets, activation.end, uuid, track_event::END, "", |_| {})
}

pub(super) fn write_segment(packets: &mut Packets<'_>, uuid: u64, segment: &Segment) -> io::Result<()> {
    let by = segment.by.as_ref().map(ToString::to_string);
    let name = called(segment.cause.code(), by.as_deref());
    event(packets, segment.start, uuid, track_event::BEGIN, &name, |out| {
        text(out, "cause", segment.cause.code());
        if let Some(by) = &by {
            text(out, "by", by);
        }
        if let Some(owner) = &segment.owner {
            text(out, "lock_owner", &owner.to_string());
        }
        text(out, "confidence", &segment.confidence.to_string());
        number(out, "cpu", Ns(segment.cpu.0.into()));
    })?;
    event(packets, segment.end, uuid, track_event::END, "", |_| {})
}

/// Each finding where its evidence first shows it, or at the trace's start.
fn findings(explanation: &Explanation, packets: &mut Packets<'_>) -> io::Result<()> {
    if explanation.findings.is_empty() {
        return Ok(());
    }
    track(packets, FINDINGS, 0, "whylate: findings", "What is to be said of the trace as a whole")?;
    let start = explanation.trace.span.map_or(Ns::ZERO, |(start, _)| start);
    let at =
        |finding: &Finding| finding.evidence.iter().filter_map(|evidence| evidence.at).min().unwrap_or(start);
    for finding in &explanation.findings {
        event(packets, at(finding), FINDINGS, track_event::INSTANT, &finding.title, |out| {
            text(out, "code", finding.code);
            text(out, "severity", &finding.severity.to_string());
            text(out, "why", &finding.why);
            text(out, "fix", &texts(&finding.fix));
        })?;
    }
    Ok(())
}

fn called(cause: &str, by: Option<&str>) -> String {
    by.map_or_else(|| cause.to_owned(), |by| format!("{cause}: {by}"))
}

/// The words of fixes, a line each.
fn texts(fixes: &[AdvisedFix]) -> String {
    fixes.iter().map(|fix| fix.text.as_str()).collect::<Vec<_>>().join("\n")
}
