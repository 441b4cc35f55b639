//! A scene: the trace in the making, its threads, which of them is current on each CPU, and which interrupts are on top.

use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Context, ContextFlags, Event, EventKind, TraceInfo, VecSource};

/// A thread in a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thread {
    pub(crate) name: &'static str,
    pub(crate) tid: i32,
    /// The kernel's number.
    pub(crate) prio: i32,
}

/// The idle task.
pub(crate) const IDLE: Thread = fair("swapper", 0);

/// A SCHED_FIFO thread of the user's priority.
pub(crate) const fn rt(name: &'static str, tid: i32, priority: i32) -> Thread {
    Thread { name, tid, prio: 99 - priority }
}

/// A SCHED_DEADLINE thread.
pub(crate) const fn deadline(name: &'static str, tid: i32) -> Thread {
    Thread { name, tid, prio: -1 }
}

/// A SCHED_OTHER thread of nice 0.
pub(crate) const fn fair(name: &'static str, tid: i32) -> Thread {
    Thread { name, tid, prio: 120 }
}

#[derive(Clone, Copy)]
pub(super) struct OnCpu {
    pub(super) current: Thread,
    flags: ContextFlags,
}

/// A trace in the making.
pub(crate) struct Scene {
    pub(super) info: TraceInfo,
    pub(super) events: Vec<Event>,
    pub(super) now: Ns,
    pub(super) cpu: u32,
    cpus: BTreeMap<u32, OnCpu>,
    pub(super) of_switches: ContextFlags,
}

impl Scene {
    /// An empty trace by the `mono` clock of an x86_64 machine.
    pub(crate) fn new() -> Scene {
        let info = TraceInfo {
            format: "scene".into(),
            clock: Some("mono".into()),
            machine: Some("x86_64".into()),
            ..TraceInfo::default()
        };
        Scene {
            info,
            events: Vec::new(),
            now: Ns::ZERO,
            cpu: 0,
            cpus: BTreeMap::new(),
            of_switches: ContextFlags::default(),
        }
    }

    /// What follows happens on this CPU.
    pub(crate) fn cpu(mut self, cpu: u32) -> Scene {
        self.cpu = cpu;
        self
    }

    /// What follows happens at this instant, in microseconds.
    pub(crate) fn at(mut self, us: i64) -> Scene {
        self.now = Ns::from_us(us);
        self
    }

    pub(super) fn on(&mut self) -> &mut OnCpu {
        self.cpus.entry(self.cpu).or_insert(OnCpu { current: IDLE, flags: ContextFlags::default() })
    }

    pub(super) fn flag(mut self, flag: ContextFlags, set: bool) -> Scene {
        let flags = &mut self.on().flags;
        flags.0 = if set { flags.0 | flag.0 } else { flags.0 & !flag.0 };
        self
    }

    /// An event, in the context of the moment.
    pub(crate) fn event(self, kind: EventKind) -> Scene {
        self.event_with(ContextFlags::default(), kind)
    }

    pub(crate) fn event_with(mut self, flags: ContextFlags, kind: EventKind) -> Scene {
        let on = *self.on();
        let context = Context { tid: Tid(on.current.tid), flags: on.flags | flags, preempt_depth: Some(0) };
        self.events.push(Event { ts: self.now, cpu: Cpu(self.cpu), context, kind });
        self
    }

    /// An event of no type, which shows the current thread, with these flags.
    pub(crate) fn sign(self, flags: ContextFlags) -> Scene {
        self.event_with(flags, EventKind::Other)
    }

    /// An event of no type on the way from a switch to the next thread: it has the thread before as its context.
    pub(crate) fn sign_of(mut self, before: Thread, flags: ContextFlags) -> Scene {
        let current = std::mem::replace(&mut self.on().current, before);
        let mut scene = self.sign(flags);
        scene.on().current = current;
        scene
    }

    /// `thread` is current from here on, and no event shows how that came about.
    pub(crate) fn unseen_switch_to(mut self, thread: Thread) -> Scene {
        self.on().current = thread;
        self
    }

    /// What was recorded so far has the current threads alone, as the text of `perf script`.
    pub(crate) fn without_contexts(mut self) -> Scene {
        for event in &mut self.events {
            event.context.flags = ContextFlags::IRQS_UNKNOWN;
            event.context.preempt_depth = None;
        }
        self
    }

    /// The events as a trace.
    pub(crate) fn source(self) -> VecSource {
        VecSource::new(self.events, self.info, true)
    }
}
