//! What a latency tracer prints above its trace, in the kernel's words (`print_trace_header`, kernel/trace/trace.c):
//! without it the lines are events like any others, and what was measured is unknown.
//!
//! ```text
//! # wakeup_rt latency trace v1.1.5 on 6.12.107+deb13-rt-amd64
//! # latency: 103 us, #54/54, CPU#0 | (M:preempt_rt)
//! #    | task: rcuc/0-23 (uid:- nice:- policy:1 rt_prio:1)
//! #  => started at: rcu_note_context_switch
//! #  => ended at:   preempt_count_sub
//! ```

use super::values::one_line;
use std::fmt::Write;
use whylate_events::{Event, EventKind, Fact, LatencyTrace, TraceInfo};

/// The lines above the events of a latency tracer, as far as is known before the first of them.
pub(super) struct Header {
    latency: LatencyTrace,
    release: String,
    preempt_rt: Option<bool>,
}

impl Header {
    /// None for a trace that no latency tracer made.
    pub(super) fn of(info: &TraceInfo) -> Option<Header> {
        let release = info.kernel_release.as_deref().map_or_else(|| "unknown".to_owned(), one_line);
        Some(Header { latency: info.latency.clone()?, release, preempt_rt: None })
    }

    /// Takes an event in with only what these lines will show: readers of such lines make it of them.
    pub(super) fn takes(&mut self, event: &Event) -> bool {
        let EventKind::Marker(text) = event.kind else { return false };
        match Fact::parse(text.as_str()) {
            Some(Fact::PreemptRt(is_rt)) => self.preempt_rt.replace(is_rt).is_none(),
            Some(Fact::Policy { tid, policy, priority, comm }) => self.latency.task.is_some_and(|task| {
                (task.tid, task.policy, task.rt_priority, task.comm) == (tid, Some(policy), priority, comm)
            }),
            _ => false,
        }
    }

    /// The lines.
    pub(super) fn text(&self) -> String {
        let Header { latency, release, preempt_rt } = self;
        let mut text = format!("# {} latency trace v1.1.5 on {release}\n", latency.tracer.name());
        let entries = latency.entries.map(|entries| format!("#{entries}/{entries}, ")).unwrap_or_default();
        let model = match preempt_rt {
            Some(true) => " | (M:preempt_rt)",
            Some(false) => " | (M:unknown)",
            None => "",
        };
        // Writing to a string does not fail.
        _ = writeln!(
            text,
            "# latency: {} us, {entries}CPU#{}{model}",
            latency.latency.0 / 1_000,
            latency.cpu
        );
        if let Some(task) = &latency.task {
            // Who the thread belonged to, and how nice it was, is not known any more.
            let policy = task.policy.map_or_else(|| "-".to_owned(), |policy| policy.raw().to_string());
            let (comm, tid) = (one_line(task.comm.as_str()), task.tid);
            let priority = task.rt_priority;
            _ = writeln!(text, "#    | task: {comm}-{tid} (uid:- nice:- policy:{policy} rt_prio:{priority})");
        }
        for (end, function) in [("started at:", &latency.started_at), ("ended at:  ", &latency.ended_at)] {
            if let Some(function) = function {
                _ = writeln!(text, "#  => {end} {}", one_line(function));
            }
        }
        text
    }
}
