//! Excerpts of latency tracers: the end of a critical section without the header of its tracer, and lines with marks.
//!
//! ```text
//! sh-65   1d..1. 1529us : _raw_spin_unlock_irqrestore <-uart_write
//! sh-65   1d..1. 1533us+: tracer_hardirqs_on <-uart_write          the tracer's own entry, and the last
//! sh-65   1d..1. 1544us : <stack trace>
//! ```
//!
//! The tracers count from the section's beginning, so that the last entry has its length
//! (`stop_critical_timing`, kernel/trace/trace_irqsoff.c).

use super::line::{Head, MARKS};
use whylate_base::{Comm, Ns};
use whylate_events::{LatencyTask, LatencyTrace, LatencyTracer, MarkedLine};

/// What a line with its head and its body shows of the section that it ends; `None` of any other line.
pub(super) fn end_of_section(line: &str, head: &Head<'_>, body: &str) -> Option<LatencyTrace> {
    // Few lines begin so, and every line comes by here.
    let (function, caller) = body.starts_with("trace").then(|| body.split_once(" <-"))??;
    let tracer = match function {
        "tracer_hardirqs_on" | "trace_hardirqs_on" => LatencyTracer::Irqsoff,
        "tracer_preempt_on" | "trace_preempt_on" => LatencyTracer::Preemptoff,
        _ => return None,
    };
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
