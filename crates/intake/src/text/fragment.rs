//! Excerpts of latency tracers: the end of a critical section without the header of its tracer, and lines with marks.
//!
//! ```text
//! sh-65   1d..1. 1529us : _raw_spin_unlock_irqrestore <-uart_write
//! sh-65   1d..1. 1533us+: tracer_hardirqs_on <-uart_write          the tracer's own entry, and the last
//! sh-65   1d..1. 1544us : <stack trace>
//! ```
//!
//! With the option `display-graph` the last entry is a call, which has no caller: `3764 us | 0) sh-65 | d..1 | 0.000 us | tracer_hardirqs_on();`
//!
//! The tracers count from the section's beginning, so that the last entry has its length
//! (`stop_critical_timing`, kernel/trace/trace_irqsoff.c).

use super::graph::{Call, GraphLine, What};
use super::line::{Head, MARKS};
use whylate_base::{Comm, Ns};
use whylate_events::{LatencyTask, LatencyTrace, LatencyTracer, MarkedLine};

/// What a line with its head and its body shows of the section that it ends; `None` of any other line.
pub(super) fn end_of_section(line: &str, head: &Head<'_>, body: &str) -> Option<LatencyTrace> {
    // Few lines begin so, and every line comes by here.
    let (function, caller) = body.starts_with("trace").then(|| body.split_once(" <-"))??;
    let tracer = ended_by(function)?;
    let before = line.strip_suffix(body)?.trim_end().strip_suffix(':')?.trim_end();
    before.trim_end_matches(MARKS).ends_with("us").then(|| LatencyTrace {
        tracer,
        latency: head.ts,
        cpu: head.cpu,
        task: Some(LatencyTask {
            tid: head.context.tid,
            comm: Comm::from(head.comm),
            policy: None,
            rt_priority: 0,
        }),
        started_at: None,
        ended_at: Some(caller.to_owned()),
        entries: None,
        marked: None,
    })
}

/// The same of a call.
pub(super) fn end_of_section_in_graph(text: &str, line: &GraphLine<'_>) -> Option<LatencyTrace> {
    let (What::Call(Call { name, .. }), Some((comm, tid))) = (&line.what, line.thread) else { return None };
    let tracer = ended_by(name.as_str())?;
    let is_of_section = text.split_once('|').is_some_and(|(time, _)| time.trim_end().ends_with("us"));
    line.ts.filter(|_| is_of_section).map(|latency| LatencyTrace {
        tracer,
        latency,
        cpu: line.cpu,
        task: Some(LatencyTask { tid, comm: Comm::from(comm), policy: None, rt_priority: 0 }),
        started_at: None,
        ended_at: None,
        entries: None,
        marked: None,
    })
}

fn ended_by(function: &str) -> Option<LatencyTracer> {
    match function {
        "tracer_hardirqs_on" | "trace_hardirqs_on" => Some(LatencyTracer::Irqsoff),
        "tracer_preempt_on" | "trace_preempt_on" => Some(LatencyTracer::Preemptoff),
        _ => None,
    }
}

/// What the mark behind a line's time shows of the line that the tracer printed next.
pub(super) fn marked(line: &str, head: &Head<'_>, body: &str) -> Option<MarkedLine> {
    let before = line.trim_end().strip_suffix(body)?.trim_end().strip_suffix(':')?.trim_end();
    let (time, mark) = (before.trim_end_matches(MARKS), before.chars().next_back()?);
    // A `+` meant 1 us until 2.6.33, and is none of a long time.
    let least = match mark {
        '!' => Ns::from_us(100),
        '#' => Ns::from_ms(1),
        '*' => Ns::from_ms(10),
        '@' => Ns::from_ms(100),
        '$' => Ns::from_secs(1),
        _ => return None,
    };
    time.ends_with("us").then_some(MarkedLine { at: head.ts, least })
}
