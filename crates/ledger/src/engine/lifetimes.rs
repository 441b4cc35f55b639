//! Where a program's start is over, and where its end begins.

use super::Engine;
use super::syscall_table::SyscallTable;
use crate::timeline::activations::{Begin, Open};
use crate::timeline::lifetime::End;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use crate::timeline::waking::Waking;
use whylate_base::{Ns, Tid};
use whylate_events::Signal;

impl Engine<'_> {
    /// `sched_process_exit`: the thread's work is done. Only its switch shows the name of a program that it executed.
    pub(super) fn exit(&mut self, at: Ns, tid: Tid) {
        self.dies(at, tid);
        let thread = self.timeline.threads.get_mut(tid);
        if let Some(open) = &mut thread.open {
            open.exited = Some(at);
        }
    }

    /// A thread ends at `at`.
    pub(super) fn dies(&mut self, at: Ns, tid: Tid) {
        let Some(thread) = self.timeline.threads.get(tid).filter(|thread| thread.lifetime.end.is_none())
        else {
            return;
        };
        let call = SyscallTable::call_of(self.syscalls, thread);
        let by_itself = match call {
            Some((call, table)) => table.exits(call),
            None => !thread.syscalls_recorded && steps_down_at_end(thread),
        };
        let began = if by_itself { at } else { self.killed_since(at, thread) };
        self.timeline.threads.get_mut(tid).lifetime.end = Some(End { began, by_itself });
    }

    /// Since when a thread has been about to end that ends at `at`, and not by a call of its own: since it was sent a signal in
    /// its activation, or another thread ended its process.
    fn killed_since(&self, at: Ns, thread: &Thread) -> Ns {
        let Some(open) = &thread.open else { return at };
        let signalled = thread.lifetime.signalled.filter(|&signalled| signalled >= open.due);
        let threads = &self.timeline.threads;
        let is_kin = |of: Tid| threads.get(of).is_some_and(|of| of.is_kin_of(thread));
        // To end a process is to wake its threads.
        let is_waker = |of: Tid| matches!(open.begin, Begin::Woken(cause) if cause.waker() == Some(of));
        let ended = self.timeline.process_ends.of(|of| is_kin(of) || is_waker(of));
        signalled.max(ended).unwrap_or(at)
    }

    /// Notes a signal to a thread: it may end it.
    pub(super) fn note_signal(&mut self, at: Ns, signal: &Signal) {
        if signal.sig == Signal::SIGKILL {
            self.timeline.process_ends.begins(at, signal.tid, true);
        }
        let thread = self.timeline.threads.get_mut(signal.tid);
        thread.lifetime.signalled = Some(at);
        thread.crossings.signalled(at, signal.sig);
    }

    /// Notes that an activation of a thread begins. The start of its program goes on where that waited for a thread that it has
    /// just started itself, to be ready.
    #[inline]
    pub(super) fn note_begin(&mut self, tid: Tid, waking: &Waking) {
        let thread = self.timeline.threads.get_mut(tid);
        thread.lifetime.activations = thread.lifetime.activations.saturating_add(1);
        if thread.lifetime.is_starting {
            let waker = waking.cause.waker().and_then(|waker| self.timeline.threads.get(waker));
            let goes_on = waker.is_some_and(|waker| {
                waker.forked_by == Some(tid) && !waker.has_executed && waker.lifetime.activations <= 1
            });
            self.timeline.threads.get_mut(tid).lifetime.is_starting = goes_on;
        }
    }

    /// True where the activation in progress of a thread is part of what its program does to start, after it was executed.
    pub(super) fn goes_on_starting(&self, tid: Tid) -> bool {
        let Some(thread) = self.timeline.threads.get(tid) else { return false };
        let Some(open) = thread.open.as_ref().filter(|open| matches!(open.begin, Begin::Woken(_))) else {
            return false;
        };
        thread.lifetime.is_starting || self.waits_for_start(thread, open)
    }

    /// True of one of the first activations of a thread, in which a thread of its own program that goes before it starts that.
    fn waits_for_start(&self, thread: &Thread, open: &Open) -> bool {
        if thread.lifetime.has_run_several_times() || thread.has_executed {
            return false;
        }
        let Some(main) = thread.forked_by.and_then(|by| self.timeline.threads.get(by)) else { return false };
        let comes_first = main.priority().is_realtime() && !thread.priority().outranks(main.priority());
        let until = match (main.state(), main.since()) {
            _ if !main.lifetime.is_starting => main.lifetime.started,
            (State::Blocked { .. }, since) => since,
            _ => Some(self.timeline.now),
        };
        comes_first && until.is_some_and(|until| open.due < until)
    }
}

/// True of a thread that has given up its real-time priority in the activation in progress: cyclictest's threads do so as they end.
/// A thread that is killed keeps it.
fn steps_down_at_end(thread: &Thread) -> bool {
    let due = thread.open.as_ref().map(|open| open.due);
    due.is_some() && thread.lifetime.stepped_down >= due
}
