//! Softirqs between their raise and their entry: how late the latest began.
//!
//! A softirq is pending from its first raise on: another one changes nothing (`raise_softirq_irqoff`, kernel/softirq.c).

use rustc_hash::FxHashMap;
use whylate_base::{Cpu, Ns, Tid};

/// CPUs and softirqs that are remembered.
const MOST: usize = 16_384;

/// A softirq that began after its raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LateSoftirq {
    pub(crate) vec: u32,
    pub(crate) cpu: Cpu,
    pub(crate) raised: Ns,
    pub(crate) entered: Ns,
    /// The thread that was current as it began.
    pub(crate) tid: Tid,
}

impl LateSoftirq {
    /// From the raise to the entry.
    pub(crate) fn delay(&self) -> Ns {
        self.entered - self.raised
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct PendingSoftirqs {
    since: FxHashMap<(Cpu, u32), Ns>,
    latest: Option<LateSoftirq>,
}

impl PendingSoftirqs {
    /// A softirq is raised.
    pub(crate) fn raised(&mut self, at: Ns, cpu: Cpu, vec: u32) {
        if self.since.len() < MOST {
            self.since.entry((cpu, vec)).or_insert(at);
        }
    }

    /// A softirq begins, with this thread below it.
    pub(crate) fn begins(&mut self, at: Ns, cpu: Cpu, vec: u32, tid: Tid) {
        let Some(raised) = self.since.remove(&(cpu, vec)) else { return };
        let late = LateSoftirq { vec, cpu, raised, entered: at, tid };
        if self.latest.is_none_or(|latest| late.delay() > latest.delay()) {
            self.latest = Some(late);
        }
    }

    /// Events were lost: an entry may be among them.
    pub(crate) fn lost(&mut self) {
        self.since.clear();
    }

    /// The one that began latest after its raise.
    pub(crate) fn latest(&self) -> Option<LateSoftirq> {
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_softirq_is_pending_from_its_first_raise_to_its_entry() {
        let mut pending = PendingSoftirqs::default();
        let (cpu, tid) = (Cpu(1), Tid(15));
        pending.begins(Ns(1), cpu, 3, tid);
        assert_eq!(pending.latest(), None, "its raise was not seen");
        pending.raised(Ns(10), cpu, 3);
        pending.raised(Ns(12), cpu, 3);
        pending.begins(Ns(14), Cpu(0), 3, tid);
        pending.begins(Ns(15), cpu, 1, tid);
        pending.begins(Ns(30), cpu, 3, tid);
        let late = LateSoftirq { vec: 3, cpu, raised: Ns(10), entered: Ns(30), tid };
        assert_eq!((pending.latest(), late.delay()), (Some(late), Ns(20)));
        pending.raised(Ns(40), cpu, 3);
        pending.begins(Ns(45), cpu, 3, tid);
        assert_eq!(pending.latest(), Some(late), "that one was not as late");
        pending.raised(Ns(50), cpu, 3);
        pending.lost();
        pending.begins(Ns(500), cpu, 3, tid);
        assert_eq!(pending.latest(), Some(late));
    }
}
