//! Priorities that a text shows in some rows and not in others: rows of `perf sched timehist` have none, those of `perf script` beside
//! them do.

use std::collections::HashMap;
use whylate_base::{Priority, Tid};
use whylate_events::{EventKind, Switch, Wake};

/// The priority of each thread; `None` of one that has several.
#[derive(Default)]
pub(super) struct Priorities {
    shown: HashMap<Tid, Option<Priority>>,
}

impl Priorities {
    /// Takes in what an event shows.
    pub(super) fn learn(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Switch(Switch { prev_tid, prev_prio, next_tid, next_prio, .. }) => {
                self.shows(*prev_tid, *prev_prio);
                self.shows(*next_tid, *next_prio);
            }
            EventKind::Waking(Wake { tid, prio, .. })
            | EventKind::Wakeup { wake: Wake { tid, prio, .. }, .. } => self.shows(*tid, *prio),
            _ => {}
        }
    }

    fn shows(&mut self, tid: Tid, priority: Priority) {
        if priority != Priority::UNKNOWN {
            let known = self.shown.entry(tid).or_insert(Some(priority));
            *known = known.filter(|&known| known == priority);
        }
    }

    /// The event with the priorities that other rows show.
    pub(super) fn complete(&self, kind: EventKind) -> EventKind {
        let known = |tid: Tid, priority: Priority| match priority {
            Priority::UNKNOWN => self.shown.get(&tid).copied().flatten().unwrap_or(priority),
            shown => shown,
        };
        let woken = |wake: Wake| Wake { prio: known(wake.tid, wake.prio), ..wake };
        match kind {
            EventKind::Switch(switch) => EventKind::Switch(Switch {
                prev_prio: known(switch.prev_tid, switch.prev_prio),
                next_prio: known(switch.next_tid, switch.next_prio),
                ..switch
            }),
            EventKind::Waking(wake) => EventKind::Waking(woken(wake)),
            EventKind::Wakeup { wake, new } => EventKind::Wakeup { wake: woken(wake), new },
            kind => kind,
        }
    }
}
