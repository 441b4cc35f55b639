//! The explanation as tracks: for each thread its activations, in them what their time was charged to.

use super::packets::{Packets, STATE_CLEARED, TRACK_SEQUENCE, packet, time};
use super::proto::Message;
use crate::cut::Selected;
use crate::names;
use std::io;
use whylate_base::{Finding, Ns};
use whylate_ledger::{Activation, Explanation, Segment, TaskSummary, thread_name};

/// `TrackDescriptor`
mod descriptor {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PARENT: u32 = 5;
    pub(super) const CHILD_ORDERING: u32 = 11;
    pub(super) const RANK: u32 = 12;
    pub(super) const DESCRIPTION: u32 = 14;
    /// `ChildTracksOrdering.EXPLICIT`
    pub(super) const BY_RANK: u32 = 3;
}

/// `TrackEvent`
mod track_event {
    pub(super) const ANNOTATIONS: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const TRACK: u32 = 11;
    pub(super) const CATEGORIES: u32 = 22;
    pub(super) const NAME: u32 = 23;
    pub(super) const BEGIN: u32 = 1;
    pub(super) const END: u32 = 2;
    pub(super) const INSTANT: u32 = 3;
}

/// Numbers that no other track of the trace has: `whylate` in ASCII, and a counter.
const ROOT: u64 = 0x0077_6879_6c61_7465;
const FINDINGS: u64 = ROOT + 1;
const FIRST_THREAD: u64 = ROOT + 2;

/// Writes the tracks of an explanation, as far as it lies in the cut; gives back how many activations that were.
pub(super) fn write(
    explanation: &Explanation,
    selected: &Selected<'_>,
    packets: &mut Packets<'_>,
) -> io::Result<u64> {
    packets.write(|out| {
        out.uint(packet::SEQUENCE_ID, TRACK_SEQUENCE);
        out.uint(packet::SEQUENCE_FLAGS, STATE_CLEARED);
        out.message(packet::TRACK_DESCRIPTOR, |track| {
            track.uint(descriptor::UUID, ROOT);
            track.text(descriptor::NAME, "whylate");
            track.text(
                descriptor::DESCRIPTION,
                "Why threads were late: their activations, due to done, and the \
                cause that each stretch of time is charged to",
            );
            track.uint(descriptor::CHILD_ORDERING, descriptor::BY_RANK);
        });
    })?;
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
        for lane in lanes(&activations) {
            let rank = uuid - FINDINGS;
            track(
                packets,
                uuid,
                rank,
                &format!("whylate: {}", thread_name(&task.comm, task.tid)),
                &about(task),
            )?;
            lane.into_iter().try_for_each(|activation| write_activation(packets, uuid, activation))?;
            uuid += 1;
        }
    }
    Ok(written)
}

/// Parts activations, sorted by their beginning, into as few rows as need be for none to overlap in a row: a
/// thread that overruns its period is due again before it is done.
fn lanes<'a>(activations: &[&'a Activation]) -> Vec<Vec<&'a Activation>> {
    let mut lanes: Vec<Vec<&Activation>> = Vec::new();
    for &activation in activations {
        let is_free =
            |lane: &&mut Vec<&Activation>| lane.last().is_none_or(|last| last.end <= activation.due);
        match lanes.iter_mut().find(is_free) {
            Some(lane) => lane.push(activation),
            None => lanes.push(vec![activation]),
        }
    }
    lanes
}

fn about(task: &TaskSummary) -> String {
    let policy = task.policy.map_or_else(String::new, |policy| format!("{}, ", policy.name()));
    format!("{policy}{}; {} activations in the trace", task.priority, task.activations)
}

fn track(packets: &mut Packets<'_>, uuid: u64, rank: u64, name: &str, about: &str) -> io::Result<()> {
    packets.write(|out| {
        out.uint(packet::SEQUENCE_ID, TRACK_SEQUENCE);
        out.message(packet::TRACK_DESCRIPTOR, |track| {
            track.uint(descriptor::UUID, uuid);
            track.uint(descriptor::PARENT, ROOT);
            track.text(descriptor::NAME, name);
            track.text(descriptor::DESCRIPTION, about);
            track.int(descriptor::RANK, rank as i64);
        });
    })
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
        text(out, "fix", &verdict.fix.join("\n"));
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

fn write_segment(packets: &mut Packets<'_>, uuid: u64, segment: &Segment) -> io::Result<()> {
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
            text(out, "fix", &finding.fix.join("\n"));
        })?;
    }
    Ok(())
}

fn called(cause: &str, by: Option<&str>) -> String {
    by.map_or_else(|| cause.to_owned(), |by| format!("{cause}: {by}"))
}

/// A `TrackEvent`; its end has neither name nor annotations.
fn event(
    packets: &mut Packets<'_>,
    at: Ns,
    uuid: u64,
    kind: u32,
    name: &str,
    annotate: impl FnOnce(&mut Message),
) -> io::Result<()> {
    packets.write(|out| {
        out.uint(packet::TIMESTAMP, time(at));
        out.uint(packet::SEQUENCE_ID, TRACK_SEQUENCE);
        out.message(packet::TRACK_EVENT, |out| {
            annotate(out);
            out.uint(track_event::TYPE, kind);
            out.uint(track_event::TRACK, uuid);
            if kind != track_event::END {
                out.text(track_event::CATEGORIES, "whylate");
                out.text(track_event::NAME, name);
            }
        });
    })
}

/// `DebugAnnotation` with a `string_value`
fn text(out: &mut Message, name: &str, value: &str) {
    out.message(track_event::ANNOTATIONS, |annotation| {
        annotation.text(10, name);
        annotation.text(6, value);
    });
}

/// With an `int_value`
fn number(out: &mut Message, name: &str, value: Ns) {
    out.message(track_event::ANNOTATIONS, |annotation| {
        annotation.text(10, name);
        annotation.int(4, value.0);
    });
}

/// With a `double_value`
fn share(out: &mut Message, value: f64) {
    out.message(track_event::ANNOTATIONS, |annotation| {
        annotation.text(10, "share");
        annotation.double(5, value);
    });
}
