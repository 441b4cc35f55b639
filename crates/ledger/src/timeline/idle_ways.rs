//! Long times in which no event happened on a CPU while its thread had nothing to do there but to go to sleep, or to return from its
//! sleep: the thread did not keep the CPU.

use super::recent::{drop_while, partition_from_end};
use std::collections::VecDeque;
use whylate_base::{Ns, Tid};

/// From when to when, and the thread.
type Way = (Ns, Ns, Tid);

/// Those of one CPU, by time.
#[derive(Default)]
pub(crate) struct IdleWays {
    ways: VecDeque<Way>,
    /// Those out of a sleep the return from which was not seen so far: where it was lost, the thread may have worked.
    unreturned: VecDeque<Way>,
}

impl IdleWays {
    /// A thread that has returned from its last sleep was on its way into the next.
    pub(crate) fn goes_to_sleep(&mut self, way: Way) {
        self.add(way);
    }

    /// A thread may have been on its way out of its sleep.
    pub(crate) fn may_return(&mut self, way: Way) {
        self.unreturned.push_back(way);
    }

    /// A thread returns from the sleep that ended at `since`: until now it was in there.
    pub(crate) fn returns(&mut self, tid: Tid, since: Ns) {
        for index in (0..self.unreturned.len()).rev() {
            if self.unreturned[index].2 == tid
                && let Some(way) = self.unreturned.remove(index).filter(|way| way.0 >= since)
            {
                self.add(way);
            }
        }
    }

    fn add(&mut self, way: Way) {
        let index = partition_from_end(&self.ways, |other| other.1 <= way.1);
        self.ways.insert(index, way);
    }

    /// Those of `tid` in `from..to`, not clipped.
    pub(crate) fn between(&self, tid: Tid, from: Ns, to: Ns) -> impl Iterator<Item = (Ns, Ns)> {
        let first = partition_from_end(&self.ways, |way| way.1 <= from);
        let within = self.ways.range(first..).take_while(move |way| way.0 < to);
        within.filter(move |way| way.2 == tid).map(|way| (way.0, way.1))
    }

    pub(crate) fn held(&self) -> usize {
        self.ways.len() + self.unreturned.len()
    }

    /// Forgets those that ended before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        drop_while(&mut self.ways, |way| way.1 < horizon);
        drop_while(&mut self.unreturned, |way| way.1 < horizon);
    }
}
