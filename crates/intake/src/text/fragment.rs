//! The end of a critical section, pasted without the header of its tracer.
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
use whylate_base::Comm;
use whylate_events::{LatencyTask, LatencyTrace, LatencyTracer};

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
    })
}
