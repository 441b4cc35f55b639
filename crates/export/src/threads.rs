//! What is known of each thread as a trace goes on: its name and priority.

use std::collections::HashMap;
use whylate_base::{Comm, Priority, Tid};
use whylate_events::{Event, EventKind};

/// Names and priorities by thread.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    known: HashMap<Tid, Thread>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    comm: Comm,
    priority: Option<Priority>,
}

impl Threads {
    pub(crate) fn new(comms: Vec<(Tid, Comm)>) -> Threads {
        let known = comms.into_iter().map(|(tid, comm)| (tid, Thread { comm, priority: None }));
        Threads { known: known.collect() }
    }

    /// Learns from an event.
    pub(crate) fn see(&mut self, event: &Event) {
        let mut learn = |tid: Tid, comm: Comm, priority: Option<Priority>| {
            // Every CPU's idle task has the same id and a name of its own.
            if tid.is_idle() {
                return;
            }
            let thread = self.known.entry(tid).or_default();
            if !comm.is_empty() {
                thread.comm = comm;
            }
            thread.priority = priority.or(thread.priority);
        };
        match &event.kind {
            EventKind::Switch(switch) => {
                learn(switch.prev_tid, switch.prev_comm, Some(switch.prev_prio));
                learn(switch.next_tid, switch.next_comm, Some(switch.next_prio));
            }
            EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => {
                learn(wake.tid, wake.comm, Some(wake.prio));
            }
            EventKind::Fork { child, comm, .. } => learn(*child, *comm, None),
            EventKind::Signal(signal) => learn(signal.tid, signal.comm, None),
            EventKind::PiSetprio { tid, new, .. } => learn(*tid, Comm::default(), Some(*new)),
            _ => {}
        }
    }

    /// A thread's name, empty when it is not known; the idle task's is `<idle>`, as ftrace writes it.
    pub(crate) fn comm(&self, tid: Tid) -> Comm {
        if tid.is_idle() {
            return Comm::from("<idle>");
        }
        self.known.get(&tid).map(|thread| thread.comm).unwrap_or_default()
    }

    /// A thread's last priority, with inheritance.
    pub(crate) fn priority(&self, tid: Tid) -> Option<Priority> {
        self.known.get(&tid)?.priority
    }

    /// All that have a name, by id.
    pub(crate) fn comms(&self) -> Vec<(Tid, Comm)> {
        let named = self.known.iter().filter(|(_, thread)| !thread.comm.is_empty());
        let mut comms: Vec<(Tid, Comm)> = named.map(|(&tid, thread)| (tid, thread.comm)).collect();
        comms.sort_unstable_by_key(|&(tid, _)| tid);
        comms
    }
}

/// The threads that an event is about, with their names where it gives them.
pub(crate) fn named(kind: &EventKind) -> [Option<(Tid, Option<Comm>)>; 2] {
    match kind {
        EventKind::Switch(s) => {
            [Some((s.prev_tid, Some(s.prev_comm))), Some((s.next_tid, Some(s.next_comm)))]
        }
        EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => [Some((wake.tid, Some(wake.comm))), None],
        EventKind::Migrate { tid, .. } | EventKind::Exit { tid } | EventKind::PiSetprio { tid, .. } => {
            [Some((*tid, None)), None]
        }
        EventKind::BlockedReason(reason) => [Some((reason.tid, None)), None],
        EventKind::Fork { parent, child, comm } => [Some((*parent, None)), Some((*child, Some(*comm)))],
        EventKind::Exec { old, tid } => [Some((*old, None)), Some((*tid, None))],
        EventKind::Signal(signal) => [Some((signal.tid, Some(signal.comm))), None],
        _ => [None, None],
    }
}
