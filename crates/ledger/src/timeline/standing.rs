//! A thread that is to yield and goes on, as the interrupts that come upon it show.

use super::recent::partition_from_end;
use std::collections::VecDeque;
use whylate_base::{Ns, Tid};
use whylate_events::Symbol;

/// Events of one interrupt are not further apart.
const ONE_INTERRUPT: Ns = Ns::from_us(100);

/// The first of them may be the one that sets the flag, and the next come just before the thread yields.
pub(crate) const OFTEN: usize = 3;

/// An event in an interrupt upon a thread that should yield.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReschedSample {
    pub(crate) at: Ns,
    /// When that interrupt began.
    pub(crate) entered: Ns,
    pub(crate) tid: Tid,
    /// The thread had preemption enabled as the interrupt came: a kernel that is fully preemptible switches at its end
    /// (`raw_irqentry_exit_cond_resched()`, `kernel/entry/common.c`).
    pub(crate) is_preemptible: bool,
    /// The work item that it is at.
    pub(crate) item: Option<Symbol>,
}

/// A thread went on that was to yield, and had preemption enabled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Standing {
    /// So many interrupts came upon it meanwhile, or so many rows are of it.
    pub(crate) samples: usize,
    /// The samples are its own rows in the file of a latency tracer, and no interrupts.
    pub(crate) by_rows: bool,
    /// From the first to the last.
    pub(crate) from: Ns,
    pub(crate) to: Ns,
    /// The work item that it was at, in all of them.
    pub(crate) item: Option<Symbol>,
}

/// What interrupts in `from..=to` show of this thread: none where few came upon it.
pub(crate) fn standing(samples: &VecDeque<ReschedSample>, tid: Tid, from: Ns, to: Ns) -> Option<Standing> {
    let first = partition_from_end(samples, |sample| sample.at < from);
    let within = samples.range(first..).take_while(|sample| sample.at <= to);
    let mut standing: Option<Standing> = None;
    let mut last = None;
    for sample in within.filter(|sample| sample.tid == tid) {
        let is_same = last.is_some_and(|last| sample.entered.min(sample.at - ONE_INTERRUPT) <= last);
        last = Some(sample.at);
        // What a handler disables itself is not the thread's.
        if !sample.is_preemptible {
            continue;
        }
        match &mut standing {
            Some(standing) => {
                standing.samples += usize::from(!is_same);
                standing.to = sample.at;
                standing.item = standing.item.filter(|item| sample.item == Some(*item));
            }
            None => {
                let (from, item) = (sample.at, sample.item);
                standing = Some(Standing { samples: 1, by_rows: false, from, to: from, item });
            }
        }
    }
    standing.filter(|standing| standing.samples >= OFTEN)
}
