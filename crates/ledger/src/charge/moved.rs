//! The time a thread waited on one CPU before it ran on another, where no event shows when it was moved.
//!
//! ```text
//! CPU 3:  | woken here behind another thread ............| that thread sleeps, the idle task is chosen
//! CPU 1:  | idle ........................................| the thread runs
//!         <------------------ it waits on CPU 3 -------->^ it has left CPU 3 by here
//! ```
//! A thread leaves the runqueue that it is on for a CPU that is about to run it, nearly always (`sched_balance_newidle()`,
//! `pull_rt_task()`, `push_rt_task()`; `kernel/sched/fair.c`, `kernel/sched/rt.c`).

use super::attribution::Charge;
use super::charger::Charger;
use super::precedence::{Contender, Relation};
use super::queue::{ORDINARY_DISPATCH, Queued};
use crate::causes::Cause;
use crate::timeline::running::Running;
use crate::timeline::slices::Clip;
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Cpu, Ns};

impl Charger<'_> {
    /// Charges up to `to` a time in which `waiter` was queued on one CPU at first, and ran on another behind it.
    pub(super) fn waiting_to_be_moved(&mut self, waiter: &Thread, queued_on: Cpu, ran_on: Cpu, to: Ns) {
        let left = self.left_by(waiter, queued_on, to);
        if left > self.at {
            self.waiting_as(waiter, queued_on, left, Queued::Somewhere);
        }
        if to > left {
            self.waiting_as(waiter, ran_on, to, Queued::Somewhere);
        }
    }

    /// Charges what there is of a wait up to `to` in which the stopper of the CPU `left` still moves the thread from there: it has taken it off
    /// that queue and not yet put it on the next one (`move_queued_task()`, `kernel/sched/core.c`).
    pub(super) fn moved_by_stopper(&mut self, left: Cpu, to: Ns) {
        let Some(timeline) = self.timeline.cpus.get(left) else { return };
        let is_of_stopper = |(start, _, slice): &Clip| match slice.running {
            Running::Task(tid, theirs) => self.is_stopper(*start, (tid, theirs)),
            Running::Irq(_) | Running::Softirq(_) | Running::Nmi => true,
            Running::Idle | Running::Unknown => false,
        };
        let moves = timeline.between(self.at, to).take_while(is_of_stopper);
        let until = moves.last().map_or(self.at, |(_, end, _)| end);
        if until - self.at > ORDINARY_DISPATCH {
            self.charge(until, Charge::to(Cause::Migration, None, Confidence::Medium));
        }
    }

    /// When it had left the CPU at the latest: that ran what it would not run before this thread.
    fn left_by(&self, waiter: &Thread, cpu: Cpu, to: Ns) -> Ns {
        let recorded = self.timeline.cpus.get(cpu).filter(|_| self.timeline.is_recorded(cpu));
        let Some(timeline) = recorded else { return self.at };
        let gone = |&(start, _, slice): &Clip| match slice.running {
            Running::Idle | Running::Unknown => true,
            Running::Task(tid, theirs) => {
                let runner = Contender::of(&self.task(tid, theirs, start));
                runner.is_none_or(|runner| {
                    Relation::of(&Contender::at(waiter, start), &runner) == Relation::LowerPriority
                })
            }
            Running::Irq(_) | Running::Softirq(_) | Running::Nmi => false,
        };
        let mut slices = timeline.between(self.at, to);
        slices.find(gone).map_or(to, |(start, ..)| start)
    }
}
