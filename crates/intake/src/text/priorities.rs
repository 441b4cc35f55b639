//! Priorities that a text shows in some rows and not in others: rows of `perf sched timehist` have none, those of `perf script` beside
//! them do.

use rustc_hash::FxHashMap;
use whylate_base::{Priority, Tid};
use whylate_events::{EventKind, Switch, Wake};

/// The priority of each thread; `None` of one that has several.
#[derive(Default)]
pub(super) struct Priorities {
    shown: FxHashMap<Tid, Option<Priority>>,
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

    /// Fills in the priorities that other rows show.
    pub(super) fn complete(&self, kind: &mut EventKind) {
        let fill = |tid: Tid, priority: &mut Priority| {
            if *priority == Priority::UNKNOWN {
                *priority = self.shown.get(&tid).copied().flatten().unwrap_or(*priority);
            }
        };
        match kind {
            EventKind::Switch(switch) => {
                fill(switch.prev_tid, &mut switch.prev_prio);
                fill(switch.next_tid, &mut switch.next_prio);
            }
            EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => fill(wake.tid, &mut wake.prio),
            _ => {}
        }
    }
}
