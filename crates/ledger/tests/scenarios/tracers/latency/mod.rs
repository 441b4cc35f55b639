//! Latency tracers' files: one critical section, or one wake-up.

mod contexts;
mod excerpts;
mod sections;
mod wakeup;

use crate::support::Explained;
use crate::tracers::{CPU, explained};
use whylate_base::{Ns, Policy, Tid};
use whylate_events::{Event, LatencyTask, LatencyTrace, LatencyTracer, TraceInfo};
use whylate_ledger::CriticalSection;

fn check_section(section: &CriticalSection) {
    let parts: Ns = section.parts.iter().map(|part| part.time).sum();
    assert_eq!(parts + section.rest + section.unexplained, section.latency, "{section:#?}");
    assert!(section.unexplained >= Ns::ZERO && section.rest >= Ns::ZERO, "{section:#?}");
    assert!(section.parts.is_sorted_by(|a, b| a.time >= b.time), "{section:#?}");
}

pub(super) fn latency_trace(
    tracer: LatencyTracer,
    latency: i64,
    comm: &str,
    tid: i32,
    rt_priority: u32,
) -> TraceInfo {
    let policy = if rt_priority > 0 { Policy::Fifo } else { Policy::Other };
    let task = LatencyTask { tid: Tid(tid), comm: comm.into(), policy: Some(policy), rt_priority };
    TraceInfo {
        latency: Some(LatencyTrace {
            tracer,
            latency: Ns(latency),
            cpu: CPU,
            task: Some(task),
            started_at: None,
            ended_at: None,
            entries: None,
            marked: None,
        }),
        ..TraceInfo::default()
    }
}

pub(super) fn named(mut info: TraceInfo, from: &str, to: &str) -> TraceInfo {
    let trace = info.latency.as_mut().expect("of a tracer");
    trace.started_at = Some(from.into());
    trace.ended_at = Some(to.into());
    info
}

pub(super) fn section_of(info: TraceInfo, events: Vec<Event>) -> (Explained, CriticalSection) {
    let explained = explained(info, events);
    assert!(explained.0.activations.is_empty() && explained.0.tasks.is_empty(), "no activation is in it");
    let [section] = explained.0.sections.as_slice() else { panic!("{:#?}", explained.0.sections) };
    check_section(section);
    let section = section.clone();
    (explained, section)
}
