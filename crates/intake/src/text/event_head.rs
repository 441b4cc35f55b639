//! What the last event leaves to the lines behind it: where and when it was, and whose frames may follow.

use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Context, Event, EventKind};

/// The running thread before any line shows one.
pub(super) const NOBODY_KNOWN: Tid = Tid(-1);

/// An event without what happened.
#[derive(Clone, Copy)]
pub(super) struct EventHead {
    pub(super) ts: Ns,
    pub(super) cpu: Cpu,
    pub(super) context: Context,
}

impl EventHead {
    pub(super) fn of(event: &Event) -> EventHead {
        EventHead { ts: event.ts, cpu: event.cpu, context: event.context }
    }

    pub(super) fn event(self, kind: EventKind) -> Event {
        Event { ts: self.ts, cpu: self.cpu, context: self.context, kind }
    }
}

/// Which frames may follow a line.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Frames {
    /// ` => function`
    Kernel,
    /// The same of a program, which are no events.
    User,
    /// `ffffffff821f8b58 __schedule+0x618 ([kernel.kallsyms])`
    Perf,
}
