//! The time a thread slept in the middle of its work: a lock, a device, a page.
//!
//! A lock's time is charged to what its owner did. Who wakes a waiter is who releases the lock,
//! so the owner's life is followed backwards through the wait, and through the owner's own waits.

use super::precedence::{Contender, Relation};
use super::{Charge, Charger};
use crate::causes::Cause;
use crate::cpus::Who;
use crate::model::Culprit;
use crate::sleeps::Wait;
use crate::threads::{State, Thread};
use whylate_base::{Confidence, Ns, Priority, Tid};

/// A chain of owners longer than this is a cycle.
const LONGEST_CHAIN: usize = 16;

impl Charger<'_> {
    /// Charges up to `to` a sleep that was ended by `waker`.
    pub(super) fn blocked(&mut self, wait: Wait, waker: Option<Tid>, prio: Priority, to: Ns) {
        match wait {
            Wait::Lock { owner } => self.follow(waker.or(owner), prio, to, 0),
            Wait::Io => self.charge(to, Charge::to(Cause::BlockIo, None, Confidence::Medium)),
            Wait::Fault => {
                // Without system calls a read right after a fault looks like that fault's own.
                let confidence =
                    if self.victim.syscalls_recorded { Confidence::High } else { Confidence::Medium };
                self.charge(to, Charge::to(Cause::PageFault, None, confidence));
            }
            Wait::Migration => self.charge(to, Charge::to(Cause::Migration, None, Confidence::High)),
            Wait::Period | Wait::Input | Wait::Unsure => self.charge(to, Charge::unexplained()),
        }
    }

    /// Charges up to `to` a wait for a lock to what its owner did, for a victim of priority `prio`.
    fn follow(&mut self, owner: Option<Tid>, prio: Priority, to: Ns, depth: usize) {
        let known = owner.filter(|_| depth < LONGEST_CHAIN).and_then(|tid| self.engine.threads.get(tid));
        let Some(owner) = known.filter(|owner| owner.tid != self.victim.tid) else {
            return self.charge(to, Charge::to(Cause::LockWait, None, Confidence::Low));
        };
        for (_, end, span) in owner.between(self.at, to) {
            let held_by = self.task(owner.tid, span.prio);
            let held = |confidence| Charge {
                cause: Cause::LockWait,
                by: Some(held_by),
                owner: Some(held_by),
                confidence,
            };
            match span.state {
                State::Running(cpu) => self.owner_runs(owner, cpu, end, held(Confidence::High)),
                State::Queued(cpu) => {
                    let Thread { tid, comm, .. } = *self.victim;
                    let victim = Contender { tid, comm, priority: prio };
                    let before = self.fence();
                    self.waiting(owner, span.prio, cpu, end);
                    for segment in &mut self.segments[before..] {
                        (segment.cause, segment.by) =
                            owner_waits(segment.cause, segment.by, held_by, &victim);
                        segment.owner = Some(held_by);
                    }
                    self.fence();
                }
                State::Blocked { wait: Wait::Lock { owner: next }, waker } => {
                    self.follow(waker.or(next), prio, end, depth + 1);
                }
                State::Blocked { .. } => self.charge(end, held(Confidence::Medium)),
                State::Unknown => self.unseen(end),
            }
        }
    }

    /// The owner had a CPU: it worked, unless it was interrupted.
    fn owner_runs(&mut self, owner: &Thread, cpu: whylate_base::Cpu, to: Ns, held: Charge) {
        self.cpu = cpu;
        let Some(timeline) = self.engine.cpus.get(cpu) else { return self.charge(to, held) };
        for (from, end, stretch) in timeline.between(self.at, to) {
            let charge = match stretch.who {
                Who::Task(tid, _) if tid == owner.tid => held,
                _ => self.interruption((from, end, stretch)).unwrap_or(held),
            };
            self.charge(end, charge);
        }
    }
}

/// What a `victim` is charged for a wait of its lock's owner: a thread that is not ahead of the victim has no right
/// to delay it. That is the inversion.
fn owner_waits(
    cause: Cause,
    by: Option<Culprit>,
    owner: Culprit,
    victim: &Contender,
) -> (Cause, Option<Culprit>) {
    let ahead =
        |by: &Culprit| Contender::of(by).is_none_or(|runner| Relation::of(victim, &runner).preempts());
    match (cause, by) {
        (
            Cause::HigherPriorityTask
            | Cause::EqualPriorityTask
            | Cause::FairQueue
            | Cause::PinnedBeforePriority,
            Some(by),
        ) if !ahead(&by) => (Cause::LockInversion, Some(by)),
        (Cause::Dispatch | Cause::PreemptionDisabled | Cause::IdleExit | Cause::FairQueue, _) => {
            (Cause::LockWait, Some(owner))
        }
        _ => (cause, by),
    }
}
