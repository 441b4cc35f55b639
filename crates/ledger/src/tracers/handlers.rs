//! Interrupts and softirqs that only the flags of a tracer's lines show.
//!
//! ```text
//! <idle>-0   0d.h1..    6us+: __handle_irq_event_percpu      entry of `rtl_interrupt`: in the lines with `h`,
//! <idle>-0   0d.h1..    6us+: rtl_interrupt                  the function that the kernel calls is the handler
//! <idle>-0   0d.h1..  152us : handle_edge_irq
//! <idle>-0   0d..1..  152us : irq_exit_rcu                   exit: the first line without `h`
//! ```
//!
//! A trace of functions has no event at an interrupt's entry, and without one its time is charged to what it hit: the
//! exit of an idle CPU, a thread that did not give way. Where the trace has those events, they are left alone.
//!
//! Where all functions are traced, the line after the last `h` is the way out of the interrupt. Without them
//! (`options/function-trace` off, or lines left out) it may come long after: there the last `h` is all that is known.

use whylate_base::Cpu;
use whylate_events::{ContextFlags, Event, EventKind, LatencyTrace, Name, Symbol, softirq_of};

/// No tracer's buffer of one CPU holds more events; of a longer trace nothing is added.
const MOST: usize = 1 << 20;

/// Without function tracing the tracer prints one function at the wake-up and one at the switch
/// (`probe_wakeup`, `probe_wakeup_sched_switch` in kernel/trace/trace_sched_wakeup.c).
const OF_THE_TRACER: usize = 2;

/// The functions that call a device's handler (kernel/irq/handle.c).
pub(super) const CALLERS: [&str; 2] = ["__handle_irq_event_percpu", "handle_irq_event_percpu"];

/// Functions that show which of the architecture's own interrupts it is (arch/*/kernel, kernel/time, kernel/smp.c).
const VECTORS: [(&str, &str); 13] = [
    ("hrtimer_interrupt", "local_timer"),
    ("hrtimer_update_next_event", "local_timer"),
    ("__hrtimer_run_queues", "local_timer"),
    ("__hrtimer_get_next_event", "local_timer"),
    ("hrtimer_wakeup", "local_timer"),
    ("tick_program_event", "local_timer"),
    ("tick_handle_periodic", "local_timer"),
    ("local_apic_timer_interrupt", "local_timer"),
    ("scheduler_ipi", "reschedule"),
    ("sched_ttwu_pending", "reschedule"),
    ("generic_smp_call_function", "call_function"),
    ("flush_smp_call_function_queue", "call_function"),
    ("irq_work_run", "irq_work"),
];

/// The events of a latency tracer, held until all are there.
pub(crate) struct Handlers {
    cpu: Cpu,
    /// How many entries the tracer printed, where the header shows it.
    entries: Option<u64>,
    events: Vec<Event>,
}

impl Handlers {
    pub(crate) fn of(trace: Option<&LatencyTrace>) -> Option<Handlers> {
        let trace = trace.filter(|trace| trace.tracer.is_wakeup())?;
        Some(Handlers { cpu: trace.cpu, entries: trace.entries, events: Vec::new() })
    }

    /// Takes an event in; false where there are more than a tracer keeps.
    pub(crate) fn hold(&mut self, event: &Event) -> bool {
        let fits = self.events.len() < MOST;
        if fits {
            self.events.push(*event);
        }
        fits
    }

    /// The events as they came.
    pub(crate) fn untouched(self) -> Vec<Event> {
        self.events
    }

    /// All events, with an entry and an exit around the lines of each interrupt and softirq.
    pub(crate) fn revealed(self) -> Vec<Event> {
        let has_events = |event: &Event| {
            matches!(
                event.kind,
                EventKind::IrqEntry { .. }
                    | EventKind::VectorEntry { .. }
                    | EventKind::SoftirqEntry { .. }
                    | EventKind::IrqExit { .. }
                    | EventKind::SoftirqExit { .. }
            )
        };
        let shows_functions =
            self.events.iter().any(|event| matches!(event.kind, EventKind::Function { .. }));
        if !shows_functions || self.events.iter().any(has_events) {
            return self.events;
        }
        let hard = |flags: ContextFlags| flags.contains(ContextFlags::HARDIRQ);
        let soft = |flags: ContextFlags| flags.contains(ContextFlags::SOFTIRQ);
        let mut added = self.within(soft, |run| softirq(run).map(|vec| EventKind::SoftirqEntry { vec }));
        added.extend(self.within(hard, |run| Some(EventKind::VectorEntry { name: handler(run) })));
        // Before the same line: what ends comes first, and a hard interrupt lies within a softirq.
        added.sort_by_key(|added| (added.before, added.rank()));
        let mut all = Vec::with_capacity(self.events.len() + added.len());
        let mut added = added.into_iter().peekable();
        for (at, event) in self.events.into_iter().enumerate() {
            while let Some(entry) = added.next_if(|added| added.before <= at) {
                all.push(entry.event);
            }
            all.push(event);
        }
        all.extend(added.map(|added| added.event));
        all
    }

    /// An entry and an exit for each run of lines whose flags are `inside`.
    fn within(
        &self,
        inside: impl Fn(ContextFlags) -> bool,
        entry: impl Fn(&[&Event]) -> Option<EventKind>,
    ) -> Vec<Added> {
        let lines = self.events.iter().enumerate();
        let own: Vec<(usize, &Event)> = lines.filter(|(_, event)| self.is_line(event)).collect();
        let same = |a: &(usize, &Event), b: &(usize, &Event)| {
            inside(a.1.context.flags) == inside(b.1.context.flags) && a.1.context.tid == b.1.context.tid
        };
        let functions = own.iter().filter(|(_, event)| is_function(event)).count();
        let printed = self.events.len() as u64;
        let is_whole =
            self.entries.is_none_or(|entries| printed.saturating_mul(10) >= entries.saturating_mul(9));
        let all_traced = functions > OF_THE_TRACER && is_whole;
        let mut added = Vec::new();
        let mut end = 0;
        for run in own.chunk_by(same) {
            end += run.len();
            let Some(&(first, begin)) = run.first().filter(|(_, event)| inside(event.context.flags)) else {
                continue;
            };
            let events: Vec<&Event> = run.iter().map(|&(_, event)| event).collect();
            // Up to the first line outside, or to the last inside.
            let last = run.last().map(|&(at, event)| (at + 1, event));
            let next = own.get(end).copied().filter(|_| all_traced).or(last);
            let (Some(entered), Some((before, next))) = (entry(&events), next) else { continue };
            let exited = match entered {
                EventKind::VectorEntry { name } => EventKind::VectorExit { name },
                EventKind::SoftirqEntry { vec } => EventKind::SoftirqExit { vec },
                _ => continue,
            };
            added.push(Added { before: first, event: Event { kind: entered, ..*begin } });
            added.push(Added { before, event: Event { ts: next.ts, kind: exited, ..*begin } });
        }
        added
    }

    /// True of a line with flags of its own: a frame of a stack has those of the line above it.
    fn is_line(&self, event: &Event) -> bool {
        let is_line = !matches!(
            event.kind,
            EventKind::StackFrame { .. } | EventKind::Marker(_) | EventKind::Lost { .. }
        );
        is_line && event.cpu == self.cpu
    }
}

/// An event that no line shows.
struct Added {
    /// It stands before the event of this index.
    before: usize,
    event: Event,
}

impl Added {
    fn rank(&self) -> u8 {
        match self.event.kind {
            EventKind::VectorExit { .. } => 0,
            EventKind::SoftirqExit { .. } => 1,
            EventKind::SoftirqEntry { .. } => 2,
            _ => 3,
        }
    }
}

fn is_function(event: &Event) -> bool {
    matches!(event.kind, EventKind::Function { .. } | EventKind::FunctionEntry { .. })
}

fn functions<'a>(run: &'a [&Event]) -> impl Iterator<Item = Symbol> + Clone + 'a {
    run.iter().filter_map(|event| match event.kind {
        EventKind::Function { name, .. } | EventKind::FunctionEntry { name, .. } => Some(name),
        _ => None,
    })
}

/// The handler that a run of lines shows: the device's, or the architecture's own.
fn handler(run: &[&Event]) -> Name {
    let mut called = functions(run).skip_while(|name| !CALLERS.contains(&name.as_str()));
    let device = called.find(|name| !CALLERS.contains(&name.as_str()));
    let own = || {
        functions(run).find_map(|name| {
            VECTORS.iter().find(|(function, _)| name.as_str().starts_with(function)).map(|&(_, own)| own)
        })
    };
    match (device, own()) {
        (Some(device), _) => Name::from(device.as_str()),
        (None, Some(own)) => Name::from(own),
        (None, None) => Name::default(),
    }
}

/// The softirq of a run of lines; `None` where no function shows it, as where softirqs are only disabled.
fn softirq(run: &[&Event]) -> Option<u32> {
    functions(run).find_map(|name| softirq_of(name.as_str()))
}
