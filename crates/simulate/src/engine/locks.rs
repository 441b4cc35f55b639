//! Locks: their owners, their waiters, and what the owners inherit.

use super::rank::Rank;
use super::state::{Doing, Simulation};
use super::trace::calls;
use crate::model::LockProtocol;
use whylate_events::EventKind;

/// A chain of owners longer than this is a cycle: a deadlock.
const LONGEST_CHAIN: usize = 64;
/// FUTEX_LOCK_PI and FUTEX_WAIT, both FUTEX_PRIVATE_FLAG, and the word of a lock with waiters.
const LOCK_PI: u64 = 0x86;
const WAIT: u64 = 0x80;
const LOCKED_WITH_WAITERS: u64 = 2;

impl Simulation<'_> {
    /// The current thread of a CPU takes a lock; false where it must wait.
    pub(super) fn lock(&mut self, cpu: usize, thread: usize, lock: usize) -> bool {
        if self.locks[lock].owner == Some(thread) {
            return true;
        }
        if self.locks[lock].owner.is_none() {
            self.locks[lock].owner = Some(thread);
            self.threads[thread].held.push(lock);
            self.refresh(cpu, thread, 0);
            return true;
        }
        let operation = match self.model.locks[lock].protocol {
            LockProtocol::Inherit => LOCK_PI,
            LockProtocol::None | LockProtocol::Protect => WAIT,
        };
        self.emit_call(
            cpu,
            calls::FUTEX,
            [0x7000 + 64 * lock as u64, operation, LOCKED_WITH_WAITERS, 0, 0, 0],
        );
        self.locks[lock].waiters.push(thread);
        self.threads[thread].in_call = Some(calls::FUTEX);
        self.sleep_in(cpu, thread, Doing::Blocked(lock));
        if let Some(owner) = self.locks[lock].owner {
            self.refresh(cpu, owner, 0);
        }
        false
    }

    /// The current thread of a CPU gives a lock back; its first waiter has it then.
    pub(super) fn unlock(&mut self, cpu: usize, thread: usize, lock: usize) {
        if self.locks[lock].owner != Some(thread) {
            return;
        }
        self.threads[thread].held.retain(|&held| held != lock);
        let waiters = self.locks[lock].waiters.iter().enumerate();
        let first = waiters.min_by_key(|&(at, &waiter)| (self.threads[waiter].rank(), at)).map(|(at, _)| at);
        let Some(first) = first else {
            self.locks[lock].owner = None;
            self.refresh(cpu, thread, 0);
            return;
        };
        let next = self.locks[lock].waiters.remove(first);
        self.locks[lock].owner = Some(next);
        self.threads[next].held.push(lock);
        self.threads[next].at += 1;
        self.refresh(cpu, thread, 0);
        self.refresh(cpu, next, 0);
        self.wake(cpu, next);
    }

    /// What a thread inherits by the locks that it holds.
    fn refresh(&mut self, cpu: usize, thread: usize, depth: usize) {
        let mut boost: Option<Rank> = None;
        for &lock in &self.threads[thread].held {
            let from = match self.model.locks[lock].protocol {
                LockProtocol::None => None,
                LockProtocol::Protect => self.locks[lock].ceiling,
                LockProtocol::Inherit => {
                    self.locks[lock].waiters.iter().map(|&waiter| self.threads[waiter].rank()).min()
                }
            };
            boost = [boost, from].into_iter().flatten().min();
        }
        if self.threads[thread].boost == boost || depth > LONGEST_CHAIN {
            return;
        }
        let (old, before) = (self.priority(thread), self.threads[thread].rank());
        let on = self.threads[thread].cpu;
        // What it used so far it used by its old rank.
        if self.cpus[on].current == Some(thread) && self.threads[thread].doing == Doing::Running {
            self.progress(on);
            self.charge(on);
        }
        if before == Rank::Fair && boost.is_some() && self.is_runnable(thread) {
            self.leave_fair(on, thread);
        }
        self.threads[thread].boost = boost;
        let (new, after) = (self.priority(thread), self.threads[thread].rank());
        if after == Rank::Fair && before != Rank::Fair && self.is_runnable(thread) {
            self.place_fair(on, thread);
        }
        if old != new {
            self.emit(cpu, EventKind::PiSetprio { tid: self.trace.tids[thread], old, new });
        }
        match self.threads[thread].doing {
            Doing::Blocked(lock) => {
                if let Some(owner) = self.locks[lock].owner {
                    self.refresh(cpu, owner, depth + 1);
                }
            }
            Doing::Queued if after < before && self.preempts(on, thread) => self.kick_later(cpu, on),
            Doing::Queued if after < before => self.push_away(on, thread),
            Doing::Running if after > before => self.cpus[on].need_resched = true,
            _ => {}
        }
    }

    fn is_runnable(&self, thread: usize) -> bool {
        matches!(self.threads[thread].doing, Doing::Running | Doing::Queued)
    }

    /// The CPU that acts looks for a thread when it has done what it does; another one at once.
    fn kick_later(&mut self, acting: usize, cpu: usize) {
        if acting == cpu { self.cpus[cpu].need_resched = true } else { self.kick(cpu) }
    }

    /// The lock whose owners wait for each other, if `thread` is in such a circle.
    pub(super) fn deadlock_of(&self, thread: usize) -> Option<usize> {
        let mut at = thread;
        for _ in 0..LONGEST_CHAIN {
            let Doing::Blocked(lock) = self.threads[at].doing else { return None };
            at = self.locks[lock].owner?;
            if at == thread {
                return Some(lock);
            }
        }
        None
    }
}
