//! Rows whose thread has a name alone, as people shorten them:
//!
//! ```text
//! app    [001] d.... 5.000624: softirq_raise: vec=3 [action=NET_RX]
//! ```
//!
//! The switch before such a row has the thread's number. Without one it is not known which thread had the CPU.

use super::body::Body;
use super::event_head::NOBODY_KNOWN;
use super::line::Head;
use std::collections::HashMap;
use whylate_base::{Comm, Cpu, Tid};
use whylate_events::{Context, ContextFlags, Event, EventKind};

/// The thread that the last switch of each CPU let run.
#[derive(Default)]
pub(super) struct Numberless {
    running: HashMap<Cpu, (Tid, Comm)>,
}

impl Numberless {
    /// What a row with this head and this body is of, with the thread's number where a switch before it shows it.
    pub(super) fn at(&mut self, head: &Head<'_>, body: &Body) -> Event {
        let &Head { comm, context, cpu, ts, .. } = head;
        let current = match body {
            Body::Event(EventKind::Switch(switch)) => {
                self.running.insert(cpu, (switch.next_tid, switch.next_comm));
                Some((switch.prev_tid, switch.prev_comm))
            }
            _ => self.running.get(&cpu).copied(),
        };
        let context = match current.filter(|(_, name)| name.as_str() == comm) {
            _ if context.tid != NOBODY_KNOWN || comm.is_empty() => context,
            Some((tid, _)) => Context { tid, ..context },
            None => Context { flags: context.flags | ContextFlags::BYSTANDER, ..context },
        };
        Event { ts, cpu, context, kind: EventKind::Other }
    }
}
