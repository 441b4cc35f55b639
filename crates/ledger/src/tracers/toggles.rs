//! Sections with interrupts or preemption disabled, from the events of group `preemptirq`: the longest of each kind.
//!
//! ```text
//! irq_disable: caller=console_unlock ───────────────> irq_enable: caller=console_unlock
//! ```
//!
//! The kernel traces a change of the state only, so two entries in a row mean that the end of the first was lost
//! (kernel/trace/trace_preemptirq.c).

use super::lines::Lines;
use super::section;
use crate::model::section::CriticalSection;
use crate::scope::AppliedScope;
use crate::timeline::Timeline;
use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{
    Context, Event, EventKind, LatencyTask, LatencyTrace, LatencyTracer, Preemptirq, Symbol, TraceInfo,
};

/// Parts of the names of functions that give the CPU away (kernel/sched/core.c, idle.c). Inlined, they bear the name of the
/// function that calls them, which is not known of all.
const SCHEDULER: [&str; 3] = ["schedule", "resched", "idle"];

/// What is off on each CPU, and the longest section so far.
#[derive(Default)]
pub(super) struct Toggles {
    open: BTreeMap<(Cpu, Preemptirq), Disabled>,
    longest: BTreeMap<Preemptirq, (Disabled, Ns, Symbol)>,
}

#[derive(Clone, Copy)]
struct Disabled {
    cpu: Cpu,
    at: Ns,
    context: Context,
    caller: Symbol,
}

impl Toggles {
    /// Takes in the next event; sections are kept that are in `scope`.
    pub(super) fn see(
        &mut self,
        scope: Option<&AppliedScope>,
        event: &Event,
        what: Preemptirq,
        disables: bool,
        caller: Symbol,
    ) {
        let key = (event.cpu, what);
        if disables {
            let (cpu, at, context) = (event.cpu, event.ts, event.context);
            self.open.insert(key, Disabled { cpu, at, context, caller });
            return;
        }
        let Some(begin) = self.open.remove(&key).filter(|begin| begin.at < event.ts) else { return };
        if scope.is_some_and(|scope| !scope.has_cpu(event.cpu) || !scope.overlaps(begin.at, event.ts)) {
            return;
        }
        let is_longer = |(other, end, _): &(Disabled, Ns, Symbol)| event.ts - begin.at > *end - other.at;
        if self.longest.get(&what).is_none_or(is_longer) {
            self.longest.insert(what, (begin, event.ts, caller));
        }
    }

    /// True while something is off on some CPU.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The CPU goes to another thread. The scheduler itself disables preemption before and enables it behind that; of a
    /// section of the thread's own that is still open, the end is missing.
    pub(super) fn switched(&mut self, cpu: Cpu) {
        let of_scheduler =
            |begin: &Disabled| SCHEDULER.iter().any(|part| begin.caller.as_str().contains(part));
        self.open.retain(|(open, _), begin| *open != cpu || of_scheduler(begin));
    }

    /// Events of that CPU were lost: what was open may have ended.
    pub(super) fn lost(&mut self, cpu: Cpu) {
        self.open.retain(|(open, _), _| *open != cpu);
    }

    /// The longest section of each kind.
    pub(super) fn sections(
        &self,
        timeline: &Timeline,
        info: &TraceInfo,
        preempt_rt: Option<bool>,
    ) -> Vec<CriticalSection> {
        let section = |(&what, &(begin, end, closer)): (&Preemptirq, &(Disabled, Ns, Symbol))| {
            let tracer = match what {
                Preemptirq::Interrupts => LatencyTracer::Irqsoff,
                Preemptirq::Preemption => LatencyTracer::Preemptoff,
            };
            let tid = begin.context.tid;
            let comm = timeline.threads.get(tid).map(|thread| thread.comm()).unwrap_or_default();
            let task = LatencyTask { tid, comm, policy: None, rt_priority: 0 };
            // As the latency tracers print one: a line at its beginning, a line at its end.
            let trace = LatencyTrace {
                tracer,
                latency: end - begin.at,
                cpu: begin.cpu,
                task: Some(task).filter(|task| task.tid >= Tid::IDLE),
                started_at: name(begin.caller),
                ended_at: name(closer),
                entries: None,
                marked: None,
            };
            let mut lines = Lines::of(begin.cpu);
            for (ts, name) in [(begin.at, begin.caller), (end, closer)] {
                let kind = EventKind::Function { name, caller: Symbol::default() };
                lines.see(&Event { ts, cpu: begin.cpu, context: begin.context, kind });
            }
            section::section(timeline, info, &trace, &lines, preempt_rt)
        };
        self.longest.iter().map(section).collect()
    }
}

fn name(symbol: Symbol) -> Option<String> {
    (!symbol.is_empty()).then(|| symbol.as_str().to_owned())
}
