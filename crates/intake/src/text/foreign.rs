//! Priorities of kernels that are not Linux and print its events, such as HarmonyOS: they mean something else.
//!
//! Linux has -1 for SCHED_DEADLINE, and none below; its idle task has 120 or 140 (include/linux/sched/prio.h). A real-time
//! priority, a nice value and what follows from them must not be read from others.

use whylate_base::{Priority, Tid};
use whylate_events::{EventKind, Switch, Wake};

/// True of an event with a priority that Linux does not have.
pub(super) fn is_foreign(kind: &EventKind) -> bool {
    let of = |tid: Tid, Priority(prio): Priority| prio < -1 || tid.is_idle() && prio < 0;
    match kind {
        EventKind::Switch(Switch { prev_tid, prev_prio, next_tid, next_prio, .. }) => {
            of(*prev_tid, *prev_prio) || of(*next_tid, *next_prio)
        }
        EventKind::Waking(Wake { tid, prio, .. })
        | EventKind::Wakeup { wake: Wake { tid, prio, .. }, .. } => of(*tid, *prio),
        _ => false,
    }
}

/// The event without its priorities.
pub(super) fn without_priorities(kind: EventKind) -> EventKind {
    let unknown = |wake: Wake| Wake { prio: Priority::UNKNOWN, ..wake };
    match kind {
        EventKind::Switch(switch) => {
            EventKind::Switch(Switch { prev_prio: Priority::UNKNOWN, next_prio: Priority::UNKNOWN, ..switch })
        }
        EventKind::Waking(wake) => EventKind::Waking(unknown(wake)),
        EventKind::Wakeup { wake, new } => EventKind::Wakeup { wake: unknown(wake), new },
        EventKind::PiSetprio { .. } => EventKind::Other,
        kind => kind,
    }
}
