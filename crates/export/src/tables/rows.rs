//! The tables' columns, and a row of each.

use super::table::{Cell, Holds, Table};
use crate::json_lines::fields;
use crate::names;
use crate::threads::Threads;
use crate::tracepoint::Tracepoint;
use serde_json::Value;
use std::io::{self, Write};
use whylate_base::Ns;
use whylate_events::Event;
use whylate_ledger::{Activation, Culprit, Segment};

use Holds::{Float, Int, Text};

/// Columns of every event, then the fields of each under the kernel's names.
pub(super) const EVENTS: &[(&str, Holds)] = &[
    ("ts", Int),
    ("cpu", Int),
    ("tid", Int),
    ("thread", Text),
    ("context_flags", Int),
    ("preempt_depth", Int),
    ("group", Text),
    ("event", Text),
    ("comm", Text),
    ("pid", Int),
    ("prio", Int),
    ("target_cpu", Int),
    ("prev_comm", Text),
    ("prev_pid", Int),
    ("prev_prio", Int),
    ("prev_state", Text),
    ("next_comm", Text),
    ("next_pid", Int),
    ("next_prio", Int),
    ("orig_cpu", Int),
    ("dest_cpu", Int),
    ("parent_pid", Int),
    ("child_pid", Int),
    ("child_comm", Text),
    ("old_pid", Int),
    ("oldprio", Int),
    ("newprio", Int),
    ("irq", Int),
    ("vec", Int),
    ("vector", Int),
    ("name", Text),
    ("hrtimer", Text),
    ("timer", Text),
    ("function", Text),
    ("expires", Int),
    ("softexpires", Int),
    ("now", Int),
    ("id", Int),
    ("args", Text),
    ("ret", Int),
    ("address", Text),
    ("ip", Text),
    ("lock_addr", Text),
    ("flags", Int),
    ("state", Int),
    ("delta_ns", Int),
    ("sig", Int),
    ("code", Int),
    ("buf", Text),
    ("depth", Int),
    ("start", Int),
    ("duration", Int),
    ("outer_duration", Int),
    ("seqnum", Int),
    ("context", Text),
    ("timer_latency", Int),
    ("runtime", Int),
    ("noise", Int),
    ("max_sample", Int),
    ("hw_count", Int),
    ("nmi_count", Int),
    ("irq_count", Int),
    ("softirq_count", Int),
    ("thread_count", Int),
    ("count", Int),
    ("since", Int),
];

/// How many of [`EVENTS`] are of every event.
const COMMON: usize = 8;

pub(super) fn event<W: Write + Send>(
    event: &Event,
    threads: &Threads,
    table: &mut Table<W>,
) -> io::Result<()> {
    let point = Tracepoint::of(&event.kind);
    let context = &event.context;
    let common: [Cell; COMMON] = [
        Cell::int(event.ts.0),
        Cell::int(event.cpu.0),
        Cell::int(context.tid.0),
        Cell::option(Some(threads.comm(context.tid)).filter(|comm| !comm.is_empty()), Cell::text),
        Cell::int(context.flags.0),
        Cell::option(context.preempt_depth, Cell::int),
        Cell::text(point.group),
        Cell::text(point.name),
    ];
    let own = fields(event);
    let rest = EVENTS.iter().skip(COMMON).map(|&(name, holds)| {
        match (holds, own.get(name)) {
            (_, None | Some(Value::Null)) => Cell::Null,
            (Int, Some(value)) => Cell::option(value.as_i64(), Cell::Int),
            (Text, Some(Value::String(text))) => Cell::text(text),
            // A list.
            (_, Some(value)) => Cell::text(value),
        }
    });
    table.row(common.into_iter().chain(rest))
}

/// One row per activation.
pub(super) const ACTIVATIONS: &[(&str, Holds)] = &[
    ("tid", Int),
    ("comm", Text),
    ("prio", Int),
    ("cpu", Int),
    ("trigger", Text),
    ("due", Int),
    ("woken", Int),
    ("running", Int),
    ("done", Int),
    ("end", Int),
    ("latency", Int),
    ("response", Int),
    ("cause", Text),
    ("by", Text),
    ("by_tid", Int),
    ("charged", Int),
    ("share", Float),
    ("confidence", Text),
    ("why", Text),
];

pub(super) fn activation<W: Write + Send>(a: &Activation, table: &mut Table<W>) -> io::Result<()> {
    let at = |at: Option<Ns>| Cell::option(at, |at| Cell::int(at.0));
    let verdict = &a.verdict;
    table.row([
        Cell::int(a.tid.0),
        Cell::text(a.comm),
        Cell::int(a.priority.0),
        Cell::int(a.cpu.0),
        Cell::text(names::trigger(&a.trigger)),
        Cell::int(a.due.0),
        at(a.woken),
        at(a.running),
        at(a.done),
        Cell::int(a.end.0),
        at(a.latency()),
        Cell::int(a.response().0),
        Cell::text(verdict.cause),
        by(verdict.by.as_ref()),
        by_tid(verdict.by.as_ref()),
        Cell::int(verdict.charged.0),
        Cell::Float(verdict.share),
        Cell::text(verdict.confidence),
        Cell::text(&verdict.why),
    ])
}

/// One row per segment of a ledger.
pub(super) const SEGMENTS: &[(&str, Holds)] = &[
    ("activation", Int),
    ("cause", Text),
    ("start", Int),
    ("end", Int),
    ("cpu", Int),
    ("by", Text),
    ("by_tid", Int),
    ("lock_owner", Text),
    ("confidence", Text),
];

pub(super) fn segment<W: Write + Send>(
    activation: usize,
    segment: &Segment,
    table: &mut Table<W>,
) -> io::Result<()> {
    table.row([
        Cell::Int(activation as i64),
        Cell::text(segment.cause),
        Cell::int(segment.start.0),
        Cell::int(segment.end.0),
        Cell::int(segment.cpu.0),
        by(segment.by.as_ref()),
        by_tid(segment.by.as_ref()),
        by(segment.owner.as_ref()),
        Cell::text(segment.confidence),
    ])
}

fn by(culprit: Option<&Culprit>) -> Cell {
    Cell::option(culprit, |culprit| Cell::text(culprit.to_string()))
}

fn by_tid(culprit: Option<&Culprit>) -> Cell {
    match culprit {
        Some(Culprit::Task { tid, .. }) => Cell::int(tid.0),
        _ => Cell::Null,
    }
}
