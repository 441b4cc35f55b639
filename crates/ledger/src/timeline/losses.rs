//! Where events were lost.

use std::collections::VecDeque;
use whylate_base::{Cpu, Ns};

/// Events of a CPU were lost between two that were not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) cpu: Cpu,
    pub(crate) from: Ns,
    pub(crate) to: Ns,
}

/// The losses of a trace, in order.
#[derive(Default)]
pub(crate) struct Losses {
    /// What the CPU ran is unknown.
    whole: VecDeque<Loss>,
    /// Only system calls and page faults are unknown, not what the CPU ran.
    partial: VecDeque<Loss>,
    /// Those in the part of the trace that is asked for, where that is not all of it.
    pub(crate) asked_for: LossCount,
}

/// How many events were lost, as far as the kernel counted them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossCount {
    /// Times.
    pub(crate) losses: u64,
    /// Events, of those times of which that is known.
    pub(crate) events: u64,
}

impl Losses {
    pub(crate) fn add(&mut self, loss: Loss) {
        self.whole.push_back(loss);
    }

    pub(crate) fn add_partial(&mut self, loss: Loss) {
        self.partial.push_back(loss);
    }

    /// True when all events were lost in some of `from..to`, on `cpu` or, without one, on any.
    pub(crate) fn any_between(&self, cpu: Option<Cpu>, from: Ns, to: Ns) -> bool {
        let recent = self.whole.iter().rev().take_while(|loss| loss.to > from);
        let mut there = recent.filter(|loss| loss.from < to);
        there.any(|loss| cpu.is_none_or(|cpu| cpu == loss.cpu))
    }

    /// Where system calls and page faults of a CPU were lost in some of `from..to`.
    pub(crate) fn partial_between(&self, cpu: Cpu, from: Ns, to: Ns) -> impl Iterator<Item = &Loss> {
        let first = self.partial.partition_point(|loss| loss.to <= from);
        self.partial.range(first..).filter(move |loss| loss.cpu == cpu && loss.from < to)
    }

    /// How many partial losses it holds.
    pub(crate) fn held(&self) -> usize {
        self.partial.len()
    }

    /// Forgets those before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        for losses in [&mut self.whole, &mut self.partial] {
            while losses.front().is_some_and(|loss| loss.to < horizon) {
                losses.pop_front();
            }
        }
    }
}
