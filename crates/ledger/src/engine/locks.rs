//! Contended locks of the kernel.

use super::Engine;
use crate::timeline::thread::Thread;
use crate::timeline::waking::Contention;
use whylate_base::{Ns, Tid};
use whylate_events::{ContentionFlags, ContextFlags, Event};

impl Engine<'_> {
    pub(super) fn contention_begin(&mut self, at: Ns, event: &Event, flags: ContentionFlags) {
        if !event.context.flags.in_interrupt() {
            let thread = self.timeline.threads.get_mut(event.context.tid);
            thread.contending = Some(Contention {
                since: at,
                let_go: None,
                is_percpu: flags.0 & ContentionFlags::PERCPU != 0,
                is_semaphore: flags == ContentionFlags::default(),
            });
        }
    }

    /// True of a wake-up for a contended lock that a thread makes in its softirqs, as on PREEMPT_RT: the lock is the thread's.
    pub(super) fn lets_go_in_softirq(&self, event: &Event, woken: Tid) -> bool {
        let flags = event.context.flags;
        flags.contains(ContextFlags::SOFTIRQ)
            && !flags.contains(ContextFlags::HARDIRQ)
            && self.timeline.threads.get(woken).is_some_and(|woken| woken.contending.is_some())
            && self.runs_softirqs(event.context.tid)
    }

    pub(super) fn contention_end(&mut self, at: Ns, event: &Event) {
        if event.context.flags.in_interrupt() {
            return;
        }
        let thread = self.timeline.threads.get_mut(event.context.tid);
        let began = thread.contending.take();
        // It has the lock now: it sleeps for something else from here on.
        thread.lent_priority_to = None;
        let runs_since = thread.since();
        if let (Some(Contention { since, let_go, .. }), Some(open)) = (began, &mut thread.open) {
            open.spin(since, at, let_go.map(|let_go| runs_since.map_or(let_go, |runs| runs.max(let_go))));
        }
    }
}

impl Thread {
    /// It is woken while it contends for a lock: the owner has let that go. A thread that spins is woken as well, on PREEMPT_RT
    /// (`rt_mutex_slowunlock()`, `kernel/locking/rtmutex.c`).
    pub(super) fn note_release(&mut self, at: Ns, by: Option<Tid>) {
        let by_owner = by.is_some_and(|by| self.lent_priority_to.is_none_or(|owner| owner == by));
        if let Some(contention) = self.contending.as_mut().filter(|_| by_owner) {
            contention.let_go = Some(at);
            self.lent_priority_to = None;
        }
    }
}
