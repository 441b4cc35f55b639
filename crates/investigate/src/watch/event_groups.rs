//! The kinds of events that a watch can do without, in groups that are dropped together.

use whylate_events::{Kind, KindSet};

/// Kinds of events that are dropped and restored together.
pub(super) struct EventGroup {
    /// Its name for the user.
    pub(super) name: &'static str,
    pub(super) kinds: &'static [Kind],
    /// What an event of it is worth beside others: a group goes when its events are many for their worth.
    pub(super) worth: f64,
}

/// Without switches and wake-ups there is no ledger: these are in no group. Timers show when a thread was due.
pub(super) const GROUPS: [EventGroup; 8] = [
    EventGroup { name: "idle states", kinds: &[Kind::CpuIdle], worth: 0.5 },
    EventGroup { name: "softirqs", kinds: &[Kind::Softirq], worth: 1.0 },
    EventGroup { name: "interrupt vectors", kinds: &[Kind::Vector], worth: 1.0 },
    EventGroup { name: "kernel locks", kinds: &[Kind::Contention], worth: 1.0 },
    EventGroup { name: "page faults", kinds: &[Kind::PageFault], worth: 1.0 },
    EventGroup { name: "system calls", kinds: &[Kind::Syscall], worth: 1.5 },
    EventGroup { name: "interrupts", kinds: &[Kind::Irq], worth: 2.0 },
    EventGroup { name: "timers", kinds: &[Kind::HrtimerStart, Kind::HrtimerExpire], worth: 4.0 },
];

/// Events by kind, since the last look.
pub(super) type KindCounts = [u64; Kind::ALL.len()];

/// No event of any kind.
pub(super) const NONE_COUNTED: KindCounts = [0; Kind::ALL.len()];

impl EventGroup {
    /// How many events of this group there were.
    pub(super) fn count(&self, counts: &KindCounts) -> u64 {
        self.kinds.iter().map(|&kind| counts[kind as usize]).sum()
    }

    /// Those of the recorded events that belong to it.
    pub(super) fn events(&self, recorded: &[String]) -> Vec<String> {
        let points = || self.kinds.iter().flat_map(|kind| kind.tracepoints());
        let is_own = |event: &&String| {
            points().any(|point| {
                event.strip_prefix(point).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
            })
        };
        recorded.iter().filter(is_own).cloned().collect()
    }
}

/// `recorded` without the groups that are dropped.
pub(super) fn without(recorded: KindSet, dropped: &[usize]) -> KindSet {
    let is_dropped = |kind: &Kind| dropped.iter().any(|&group| GROUPS[group].kinds.contains(kind));
    Kind::ALL.into_iter().filter(|kind| recorded.contains(*kind) && !is_dropped(kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_find_their_events() {
        let recorded: Vec<String> =
            ["sched:sched_switch", "irq:softirq_raise", "irq_vectors:irq_work_entry", "irq_vectorsx:y"]
                .map(str::to_owned)
                .to_vec();
        assert_eq!(GROUPS[1].events(&recorded), ["irq:softirq_raise"]);
        assert_eq!(GROUPS[2].events(&recorded), ["irq_vectors:irq_work_entry"]);
        let rest = without(KindSet::ALL, &[1, 7]);
        assert!(
            rest.contains(Kind::Switch)
                && !rest.contains(Kind::Softirq)
                && !rest.contains(Kind::HrtimerExpire)
        );
    }
}
