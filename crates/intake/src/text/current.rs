//! The current thread of a row, where the head does not have the number of the fields of events.
//!
//! ```text
//! app    [001] d.... 5.000624: softirq_raise: vec=3 [action=NET_RX]                people leave the number out
//! app 12 [001] 5.000631: sched:sched_switch: app:70012 [120] S ==> b:70013 [120]   perf script in a container
//! ```
//!
//! In a container the number at the head is that of the PID namespace, and the fields of events have the machine's; with
//! `perf script -F pid` it is that of the process. The switch before such a row has the thread's number. Without one it is not known which
//! thread had the CPU. So it is where perf knows no name for the number (`:256 256`, `:-1 -1`): the number may be of no thread, as in
//! samples that perf makes up of another device's trace, and is taken for one where the switch before shows it.

use super::body::{self, Body};
use super::event_head::NOBODY_KNOWN;
use super::line::{self, Head};
use super::syscalls::Numbers;
use std::collections::HashMap;
use whylate_base::{Comm, Cpu, Tid};
use whylate_events::{Context, ContextFlags, Event, EventKind, Switch};

/// The thread that the last switch of each CPU let run.
#[derive(Default)]
pub(super) struct CurrentThreads {
    running: HashMap<Cpu, (Tid, Comm)>,
    /// The numbers at the heads are of another PID namespace than those of the fields.
    are_elsewhere: bool,
}

impl CurrentThreads {
    /// Looks ahead into a text that begins so: its first rows may have no switch before them.
    pub(super) fn look_ahead(&mut self, start: &[u8]) {
        let switches = start.split(|&byte| byte == b'\n').filter_map(|line| {
            let line = std::str::from_utf8(line).ok().filter(|line| line.contains("sched_switch"))?;
            let (head, text) = line::split(line.trim_start_matches(['>', ' ']).trim_end())?;
            match body::parse(&head, text, Numbers::default()) {
                Body::Event(EventKind::Switch(switch)) => Some((head, switch)),
                _ => None,
            }
        });
        self.are_elsewhere = are_elsewhere(switches);
    }

    /// What a row with this head and this body is of, with the thread's number.
    pub(super) fn at(&mut self, head: &Head<'_>, body: &Body) -> Event {
        let &Head { comm, context, cpu, ts, .. } = head;
        let current = match body {
            Body::Event(EventKind::Switch(switch)) => {
                self.running.insert(cpu, (switch.next_tid, switch.next_comm));
                Some((switch.prev_tid, switch.prev_comm))
            }
            // It is of the current thread (`update_curr()` in kernel/sched/fair.c).
            Body::RanFor(ran) if self.are_elsewhere => Some((ran.tid, Comm::from(comm))),
            _ => self.running.get(&cpu).copied(),
        };
        let is_known = context.tid.is_idle() || context.tid != NOBODY_KNOWN && !self.are_elsewhere;
        // Only threads switch.
        let is_switch = matches!(body, Body::Event(EventKind::Switch(_)));
        let is_shown = || is_switch || current.is_some_and(|(tid, _)| tid == context.tid);
        let is_known = is_known && (!is_number_alone(head) || is_shown());
        let context = match current.filter(|(_, name)| name.is(comm)) {
            _ if is_known || comm.is_empty() => context,
            Some((tid, _)) => Context { tid, ..context },
            None => Context { tid: NOBODY_KNOWN, flags: context.flags | ContextFlags::BYSTANDER, ..context },
        };
        Event { ts, cpu, context, kind: EventKind::Other }
    }

    /// The number of a head whose name may be learned: that of the fields.
    pub(super) fn number(&self, head: &Head<'_>) -> Tid {
        if self.are_elsewhere || is_number_alone(head) { NOBODY_KNOWN } else { head.context.tid }
    }
}

/// True where perf has the number for a name (`thread__comm_str` and `thread__new` in tools/perf/util/thread.c).
fn is_number_alone(head: &Head<'_>) -> bool {
    let number = head.comm.strip_prefix(':').filter(|_| head.by_perf);
    number.is_some_and(|number| number.parse() == Ok(head.context.tid.0))
}

/// True where perf's rows of switches have another number at the head than the thread of the same name that leaves, and none the same. At
/// such a row both are the current thread.
fn are_elsewhere<'a>(switches: impl Iterator<Item = (Head<'a>, Switch)>) -> bool {
    let mut others = false;
    for (head, switch) in switches {
        if !head.by_perf || switch.prev_tid.is_idle() || !switch.prev_comm.is(head.comm) {
            continue;
        }
        if switch.prev_tid == head.context.tid {
            return false;
        }
        others = true;
    }
    others
}
