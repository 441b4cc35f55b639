//! Waits on futexes in the middle of a period: for a lock, or for a message?

use super::Engine;
use super::syscall_table::SyscallTable;
use crate::timeline::activations::{Begin, Open, SleptOn, WakeCause};
use crate::timeline::futexes::{SharedBy, lock_of};
use crate::timeline::sleeps::Wait;
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Tid};

impl Engine<'_> {
    /// The futex on which a thread waits, if this is such a wait.
    pub(super) fn futex_of(&self, tid: Tid, wait: Wait) -> Option<u64> {
        let thread = self.timeline.threads.get(tid).filter(|_| matches!(wait, Wait::Semaphore { .. }))?;
        let (call, table) = thread.syscall.as_ref().zip(SyscallTable::of_thread(self.syscalls, thread))?;
        table.waits_on(call)
    }

    /// Notes that a thread is woken from a wait on this futex; true where that was its timeout, and it shares the futex with
    /// others as a lock, in the middle of a period: it looks whether it may have the lock, and waits again.
    pub(super) fn timed_out(&mut self, tid: Tid, word: Option<u64>, cause: WakeCause) -> bool {
        let (Some(word), WakeCause::Timer { .. }) = (word, cause) else { return false };
        let thread = self.timeline.threads.get_mut(tid);
        thread.futexes.times_out(word);
        shares(thread, word).is_some()
    }

    /// A wait for a semaphore that `waker` ended, with it as the owner where the wait is taken for a lock's.
    pub(super) fn taken_for_a_lock(&self, tid: Tid, wait: Wait, waker: Tid) -> Wait {
        let posts = |waker: &Thread| match &waker.syscall {
            Some(call) => {
                SyscallTable::of_thread(self.syscalls, waker).is_some_and(|table| table.is_futex(call))
            }
            None => !waker.syscalls_recorded,
        };
        let posted = self.timeline.threads.get(waker).is_some_and(posts);
        let word = self.futex_of(tid, wait);
        let confidence = self.timeline.threads.get(tid).filter(|_| posted).and_then(|thread| {
            let seldom = thread.open.as_ref().is_some_and(by_timer) && thread.pacing.seldom_waits();
            match word.and_then(|word| shares(thread, word)) {
                _ if seldom => Some(Confidence::Medium),
                Some(SharedBy::HandingOn) => Some(Confidence::Medium),
                Some(SharedBy::TryingAgain) => Some(Confidence::Low),
                None => None,
            }
        });
        Wait::Semaphore { owner: confidence.map(|confidence| (waker, confidence)) }
    }
}

/// What shows that a thread waits in the middle of a period for what it shares with others by this futex. A period may
/// itself be the timeout of such a wait.
fn shares(thread: &Thread, word: u64) -> Option<SharedBy> {
    let in_period = |open: &Open| match open.slept_on {
        SleptOn::Unseen => false,
        SleptOn::Futex(own) if lock_of(own) == lock_of(word) => false,
        SleptOn::Futex(_) | SleptOn::Other => by_timer(open),
    };
    thread.open.as_ref().is_some_and(in_period).then(|| thread.futexes.shares(word))?
}

fn by_timer(open: &Open) -> bool {
    matches!(open.begin, Begin::Woken(WakeCause::Timer { .. }))
}
