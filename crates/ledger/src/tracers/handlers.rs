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
//! An interrupt may come right behind another, so that no line between them is without `h`: the next one begins behind the way out
//! (`irq_exit`), in an entry (`do_IRQ`).
//!
//! Where all functions are traced, the line after the last `h` is the way out of the interrupt. Without them
//! (`options/function-trace` off, or lines left out) it may come long after: there the last `h` is all that is known.

use whylate_base::{Cpu, Ns};
use whylate_events::{
    ContextFlags, Event, EventKind, LatencyTrace, Name, Symbol, interrupt_entry, softirq_of,
};

/// No tracer's buffer of one CPU holds more events; of a longer trace nothing is added.
const MOST: usize = 1 << 20;

/// Without function tracing the tracer prints one function at the wake-up and one at the switch
/// (`probe_wakeup`, `probe_wakeup_sched_switch` in kernel/trace/trace_sched_wakeup.c).
const OF_THE_TRACER: usize = 2;

/// The functions that call a device's handler (kernel/irq/handle.c); the last one up to 2.6.38.
pub(super) const CALLERS: [&str; 3] =
    ["__handle_irq_event_percpu", "handle_irq_event_percpu", "handle_IRQ_event"];

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
        let mut added =
            self.within(soft, |_| Vec::new(), |run| softirq(run).map(|vec| EventKind::SoftirqEntry { vec }));
        added.extend(
            self.within(hard, back_to_back, |run| Some(EventKind::VectorEntry { name: handler(run) })),
        );
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

    /// An entry and an exit for each run of lines whose flags are `inside`; of such a run another one begins at the lines `begins`.
    fn within(
        &self,
        inside: impl Fn(ContextFlags) -> bool,
        begins: impl Fn(&[(usize, &Event)]) -> Vec<usize>,
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
        let begins = begins(&own);
        let runs = own.chunk_by(|a, b| same(a, b) && begins.binary_search(&b.0).is_err());
        for run in runs {
            end += run.len();
            let Some(&(first, begin)) = run.first().filter(|(_, event)| inside(event.context.flags)) else {
                continue;
            };
            let events: Vec<&Event> = run.iter().map(|&(_, event)| event).collect();
            // Up to the first line outside, or to the last inside.
            let last = run.last().map(|&(at, event)| (at + 1, event));
            let behind = own.get(end).copied();
            let is_followed = behind.is_some_and(|(at, _)| begins.binary_search(&at).is_ok());
            let next = behind.filter(|_| all_traced && !is_followed).or(last);
            let (Some(entered), Some((mut before, next))) = (entry(&events), next) else { continue };
            let mut until = next.ts;
            if let Some((_, behind)) = behind.filter(|(_, behind)| is_followed && behind.ts <= until) {
                // Two are not one, though a clock of microseconds has nothing between them.
                until = behind.ts - Ns(1);
                before = run.iter().find(|(_, event)| event.ts > until).map_or(before, |&(at, _)| at);
                if until < begin.ts {
                    continue;
                }
            }
            let exited = match entered {
                EventKind::VectorEntry { name } => EventKind::VectorExit { name },
                EventKind::SoftirqEntry { vec } => EventKind::SoftirqExit { vec },
                _ => continue,
            };
            added.push(Added { before: first, event: Event { kind: entered, ..*begin } });
            added.push(Added { before, event: Event { ts: until, kind: exited, ..*begin } });
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

/// Functions that leave an interrupt (kernel/softirq.c).
const EXITS: [&str; 3] = ["irq_exit", "irq_exit_rcu", "__irq_exit_rcu"];
/// Those that enter one: within an interrupt they are of a nested one.
const ENTERS: [&str; 3] = ["irq_enter", "irq_enter_rcu", "__irq_enter"];

/// The lines at which an interrupt begins behind another one, by their indices.
fn back_to_back(own: &[(usize, &Event)]) -> Vec<usize> {
    let mut begins = Vec::new();
    // How many interrupts are nested, while lines are of one; zero behind the way out of the outermost.
    let mut open: Option<u32> = None;
    for (at, event) in own {
        if !event.context.flags.contains(ContextFlags::HARDIRQ) {
            open = None;
            continue;
        }
        let (name, caller) = match &event.kind {
            EventKind::Function { name, caller } => (name.as_str(), caller.as_str()),
            EventKind::FunctionEntry { name, .. } => (name.as_str(), ""),
            _ => ("", ""),
        };
        let depth = match open {
            Some(0) if is_another(event, name, caller) => {
                begins.push(*at);
                1
            }
            Some(depth @ 1..) if ENTERS.contains(&name) => depth + 1,
            Some(depth) => depth,
            None => 1,
        };
        open = Some(if EXITS.contains(&name) && !EXITS.contains(&caller) {
            depth.saturating_sub(1)
        } else {
            depth
        });
    }
    begins
}

/// True of a line behind the way out of an interrupt that is of another one. The old tracer printed an interrupt's entry in a form
/// of its own, which is no function's: `do_IRQ (b0101ade b 0)`.
fn is_another(event: &Event, name: &str, caller: &str) -> bool {
    let is_entry = |name: &str| {
        ["do_IRQ", "do_irq", "asm_do_IRQ", "timer_interrupt", "handle_IRQ"].contains(&name)
            || name.starts_with("smp_") && name.ends_with("_interrupt")
            || !name.is_empty() && interrupt_entry(&[name]).is_some()
    };
    matches!(event.kind, EventKind::Other) || is_entry(name) || is_entry(caller) && !EXITS.contains(&name)
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
