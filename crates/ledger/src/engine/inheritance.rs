//! Priority inheritance: a lock's owner runs with the priority of a thread that waits for it.
//!
//! `sched_pi_setprio` shows it. In a recording without that event the priority itself does: the owner has that of the waiter
//! from the instant at which the waiter sleeps (`rt_mutex_adjust_prio_chain()`, `kernel/locking/rtmutex.c`).

use super::Engine;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Ns, Priority, Tid};
use whylate_events::{Event, Switch, TaskState};

impl Engine<'_> {
    /// `sched_pi_setprio`: an owner gets or loses an inherited priority.
    pub(super) fn inherit(&mut self, at: Ns, event: &Event, tid: Tid, old: Priority, new: Priority) {
        self.records_inheritance = true;
        let thread = self.timeline.threads.get_mut(tid);
        thread.inherit(at, old, new);
        if let State::Running(cpu) = thread.state()
            && let Some(timeline) = self.timeline.cpus.get_mut(cpu)
        {
            timeline.sight(at, tid, new);
        }
        if new.outranks(old) && event.context.tid != tid && !event.context.flags.in_interrupt() {
            self.timeline.threads.get_mut(event.context.tid).lent_priority_to = Some(tid);
        }
    }

    /// True where the waker ran with the priority of the thread that slept, and rose to it in that sleep: it held a lock
    /// that the other one waited for.
    pub(super) fn had_its_priority(&self, tid: Tid, waker: Tid) -> bool {
        let (Some(thread), Some(waker)) = (self.timeline.threads.get(tid), self.timeline.threads.get(waker))
        else {
            return false;
        };
        let own = thread.own_priority();
        let Some(since) = thread.since().filter(|_| own.is_realtime()) else { return false };
        // The switch away from the one is that to the other.
        waker.shown_priority() == Some(own) && own.outranks(waker.priority_at(since - Ns(1)))
    }

    /// A thread gets the CPU with another priority than it had, or keeps one that it seemed to inherit, in a recording without
    /// `sched_pi_setprio`.
    pub(super) fn set_or_inherit(&mut self, at: Ns, switch: &Switch) {
        let lender = self.timeline.threads.get(switch.next_tid).and_then(|thread| thread.inherits_from);
        let goes_on = lender.is_none_or(|(tid, since)| self.has_slept_since(tid, since));
        let thread = self.timeline.threads.get_mut(switch.next_tid);
        if inherits_unseen(thread, switch) {
            thread.inherits_from = Some((switch.prev_tid, at));
            thread.inherit(at, thread.priority(), switch.next_prio);
            return;
        }
        if !goes_on {
            // The lock has been given back: a priority that it still has is its own.
            thread.inherits_no_more(at);
        }
        thread.set_priority(at, switch.next_prio);
    }

    /// True of a thread that sleeps, and went to sleep at that instant.
    fn has_slept_since(&self, tid: Tid, since: Ns) -> bool {
        let thread = self.timeline.threads.get(tid).filter(|thread| thread.since() == Some(since));
        thread.is_some_and(|thread| matches!(thread.state(), State::Blocked { .. }))
    }
}

/// True of a thread that had run with a lower priority, and gets the CPU from one that goes to sleep, with the real-time
/// priority of that one.
fn inherits_unseen(thread: &Thread, switch: &Switch) -> bool {
    let sleeps = matches!(switch.prev_state, TaskState::Interruptible | TaskState::Uninterruptible);
    switch.next_prio == switch.prev_prio
        && sleeps
        && switch.next_prio.is_realtime()
        && thread.shown_priority().is_some_and(|before| switch.next_prio.outranks(before))
        && thread.history.has_run()
}
