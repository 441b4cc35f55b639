//! How much real-time threads used a CPU, as RT bandwidth control counts it.
//!
//! A period has hundreds of thousands of slices on a busy CPU, and each time in which it passes over a thread asks for the
//! use in the period before. So complete blocks of slices are summed up as they become complete:
//!
//! ```text
//! slices:  ..|....|....|....|....|..
//! query:    <.|sum |sum |sum |...>       slice by slice at both ends
//! ```

use super::running::Running;
use super::slices::{Clip, CpuSlice};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use whylate_base::{Ns, Priority, Tid};

/// Slices of a block.
pub(super) const BLOCK: usize = 512;
/// So few threads are found quicker one after the other.
const FEW: usize = 4;

/// Real-time use of a CPU over slices that follow each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    by_thread: FxHashMap<Tid, (Priority, Ns)>,
    /// The time of the few threads that take turns now, not yet in `by_thread`.
    turns: Vec<(Tid, Priority, Ns)>,
    used: Ns,
    seen: Ns,
    /// The real-time thread that had the CPU last. An interrupt's time is booked on the thread below it unless the kernel
    /// accounts it apart.
    below: Option<(Tid, Priority)>,
    /// True once a thread was seen: what is below does not depend on earlier slices any more.
    is_settled: bool,
}

impl Usage {
    pub(super) fn add(&mut self, (from, to, slice): Clip) {
        match slice.running {
            Running::Unknown => {
                self.below = None;
                return;
            }
            Running::Task(tid, prio) => {
                self.below = prio.realtime_user().map(|_| (tid, prio));
                self.is_settled = true;
            }
            Running::Idle => {
                self.below = None;
                self.is_settled = true;
            }
            Running::Irq(_) | Running::Softirq(_) | Running::Nmi => {}
        }
        let length = to - from;
        self.seen += length;
        if let Some((tid, prio)) = self.below {
            self.used += length;
            match self.turns.iter_mut().find(|turn| turn.0 == tid) {
                Some((_, _, time)) => *time += length,
                None => {
                    if self.turns.len() == FEW {
                        self.end_turns();
                    }
                    self.turns.push((tid, prio, length));
                }
            }
        }
    }

    /// Adds the time of those that took turns to the sums.
    fn end_turns(&mut self) {
        for (tid, prio, time) in self.turns.drain(..) {
            self.by_thread.entry(tid).or_insert((prio, Ns::ZERO)).1 += time;
        }
    }

    /// Adds a block of slices that follows.
    fn append(&mut self, block: &Usage) {
        self.end_turns();
        for (&tid, &(prio, time)) in &block.by_thread {
            self.by_thread.entry(tid).or_insert((prio, Ns::ZERO)).1 += time;
        }
        self.used += block.used;
        self.seen += block.seen;
        self.below = block.below;
    }

    /// The thread that used most, with the priority that it had first; the share of all real-time threads; and over how
    /// long that was seen.
    pub(super) fn result(mut self) -> (Option<(Tid, Priority)>, f64, Ns) {
        self.end_turns();
        let top = self.by_thread.into_iter().max_by_key(|&(tid, (_, time))| (time, tid));
        let top = top.map(|(tid, (prio, _))| (tid, prio));
        let share =
            if self.seen > Ns::ZERO { self.used.as_secs_f64() / self.seen.as_secs_f64() } else { 0.0 };
        (top, share, self.seen)
    }
}

/// The use in each complete block of a CPU's slices, as far as they are held.
#[derive(Debug, Default)]
pub(super) struct UsageBlocks {
    blocks: VecDeque<Usage>,
    /// The number of the first of them, counted from the first slice of the trace.
    first: usize,
    /// How many slices were forgotten.
    forgotten: usize,
}

impl UsageBlocks {
    /// Sums up the last block of `slices` once it is complete: when another slice follows it.
    #[inline]
    pub(super) fn follow(&mut self, slices: &VecDeque<CpuSlice>) {
        if (self.forgotten + slices.len()) % BLOCK == 1 {
            self.complete(slices);
        }
    }

    #[cold]
    fn complete(&mut self, slices: &VecDeque<CpuSlice>) {
        let last = (self.forgotten + slices.len()) / BLOCK;
        for number in self.first + self.blocks.len()..last {
            let held = |slice: usize| slice.saturating_sub(self.forgotten);
            let from = held(number * BLOCK);
            let below = self.blocks.back().and_then(|before| before.below);
            let mut block = Usage { below, ..Usage::default() };
            let ends = slices.range(from + 1..).map(|next| next.start);
            for (slice, end) in slices.range(from..held((number + 1) * BLOCK)).zip(ends) {
                if end > slice.start {
                    block.add((slice.start, end, *slice));
                }
            }
            block.end_turns();
            self.blocks.push_back(block);
        }
    }

    /// Slices from `index` on are no more what they were.
    pub(super) fn invalidate(&mut self, index: usize) {
        let valid = (self.forgotten + index) / BLOCK;
        self.blocks.truncate(valid.saturating_sub(self.first));
    }

    /// The first `count` slices are forgotten.
    pub(super) fn forget(&mut self, count: usize) {
        self.forgotten += count;
        let first = self.forgotten / BLOCK;
        let over = first.saturating_sub(self.first).min(self.blocks.len());
        self.blocks.drain(..over);
        self.first = first;
    }

    /// Adds the block that begins with the slice at `index`, if one does and is summed up, and if what `usage` has below
    /// interrupts is what it would have after all slices before; returns the index of the slice behind it.
    pub(super) fn append_to(
        &self,
        usage: &mut Usage,
        index: usize,
        ends_in_time: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let slice = self.forgotten + index;
        if !slice.is_multiple_of(BLOCK) || !usage.is_settled {
            return None;
        }
        let block = self.blocks.get((slice / BLOCK).checked_sub(self.first)?)?;
        let behind = index + BLOCK;
        if !ends_in_time(behind) {
            return None;
        }
        usage.append(block);
        Some(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_blocks_are_not_summed_up_again() {
        let slice = |n: i64| CpuSlice {
            start: Ns(n),
            running: Running::Task(Tid(1 + (n % 3) as i32), Priority::realtime(10)),
            switched: true,
        };
        let slices: VecDeque<CpuSlice> = (0..10 * BLOCK as i64).map(slice).collect();
        let mut usage = Usage { is_settled: true, ..Usage::default() };
        let mut blocks = UsageBlocks::default();
        blocks.complete(&slices);
        assert_eq!(blocks.append_to(&mut usage, BLOCK, |_| true), Some(2 * BLOCK));
        assert_eq!(blocks.append_to(&mut usage, BLOCK, |_| false), None);
        assert_eq!(blocks.append_to(&mut usage, BLOCK + 1, |_| true), None);
        assert_eq!(usage.result(), (Some((Tid(3), Priority::realtime(10))), 1.0, Ns(BLOCK as i64)));
        blocks.invalidate(BLOCK);
        assert_eq!(blocks.blocks.len(), 1);
        blocks.forget(BLOCK);
        assert_eq!((blocks.blocks.len(), blocks.first), (0, 1));
    }
}
