//! Waits on futexes in the middle of a period: for a lock, or for a message?

use super::Engine;
use super::syscall_table::SyscallTable;
use crate::timeline::activations::{Begin, Open, OtherLock, SleptOn, WakeCause};
use crate::timeline::futexes::{SharedBy, lock_of};
use crate::timeline::sleeps::{NoMutex, Wait};
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use crate::timeline::waking::Timeout;
use whylate_base::{Confidence, Ns, Tid};
use whylate_events::Syscall;

/// The words of one lock are no farther apart (`pthread_rwlock_t` of glibc).
const LARGEST_LOCK: u64 = 64;

impl Engine<'_> {
    /// The futex on which a thread waits, if this is such a wait.
    pub(super) fn futex_of(&self, tid: Tid, wait: Wait) -> Option<u64> {
        let thread = self.timeline.threads.get(tid).filter(|_| matches!(wait, Wait::Semaphore { .. }))?;
        let (call, table) = SyscallTable::call_of(self.syscalls, thread)?;
        table.waits_on(call)
    }

    /// The wait of a thread for a lock that it has given up: for that of the one other thread that lets others go on by the same futex.
    #[cold]
    pub(super) fn timed_lock(&self, tid: Tid) -> Option<Wait> {
        let thread = self.timeline.threads.get(tid)?;
        let (call, table) = SyscallTable::call_of(self.syscalls, thread)?;
        let word = table.waits_on(call)?;
        // The same address in another process is another lock, or one in memory that both share.
        let shares = |other: &Thread| other.forked_by.is_none() || other.is_kin_of(thread);
        let mut owners = self
            .timeline
            .threads
            .active()
            .filter(|other| other.tid != tid && other.futexes.hands_on(word) && shares(other));
        let owner = owners.next().filter(|_| owners.next().is_none())?;
        Some(Wait::TimedLock { owner: owner.tid })
    }

    /// What a wait for a lock was for that another thread ends: for work, where two threads hand that over by mutexes, each of which the
    /// one locks and the other unlocks. No event shows that, but the other thread slept until its own next period while it "had the
    /// lock", and the one has no periods but these.
    #[cold]
    pub(super) fn handed_over(&mut self, tid: Tid, cause: WakeCause) -> Wait {
        let lock = Wait::Lock { owner: None };
        let (Some(thread), WakeCause::Thread(waker) | WakeCause::Upon(waker)) =
            (self.timeline.threads.get(tid), cause)
        else {
            return lock;
        };
        let has_period = thread.pacing.periods.are_by_sleeps() || thread.open.as_ref().is_none_or(by_timer);
        let waker = self.timeline.threads.get(waker).and_then(|waker| waker.open.as_ref());
        let since = thread.since();
        let began_meanwhile = waker.is_some_and(|open| by_timer(open) && Some(open.due) >= since);
        if has_period || thread.contending.is_some() || !began_meanwhile {
            return lock;
        }
        let thread = self.timeline.threads.get_mut(tid);
        let is_whole = thread.forked_by.is_some();
        if thread.futexes.let_go_in_period(is_whole) { Wait::Input } else { lock }
    }

    /// Notes that a thread is woken from a wait on this futex; true where that was its timeout, and it shares the futex with
    /// others as a lock, in the middle of a period: it looks whether it may have the lock, and waits again.
    pub(super) fn timed_out(&mut self, tid: Tid, word: Option<u64>, cause: WakeCause) -> bool {
        let (Some(word), WakeCause::Timer { .. }) = (word, cause) else { return false };
        let thread = self.timeline.threads.get_mut(tid);
        thread.futexes.times_out(word);
        shares(thread, word).is_some()
    }

    /// The thread waits for something else now: its waits that ended by their timeouts were sleeps of its own, and each began an
    /// activation.
    pub(super) fn split_at_timeouts(&mut self, tid: Tid) {
        let timeouts = std::mem::take(&mut self.timeline.threads.get_mut(tid).timeouts);
        for Timeout { word, since, woken, cpu, waking } in timeouts {
            let whole = self.timeline.threads.get_mut(tid).open.clone();
            // What is charged already stays charged.
            if whole.as_ref().is_none_or(|open| open.checkpoint.is_some()) {
                return;
            }
            self.end(tid, Some(since), since);
            let now = self.timeline.now;
            let thread = self.open(woken, tid, cpu, &waking, None);
            let stays = thread.history.between(woken, now.max(woken));
            let ran = stays.iter().find_map(|stay| match stay.state {
                State::Running(on) => Some((stay.from, on)),
                _ => None,
            });
            if let Some(open) = thread.open.take() {
                let mut open = open.with_marks_of(whole.as_ref());
                (open.running, open.ran_on) = (ran.map(|(at, _)| at), ran.map(|(_, on)| on));
                (open.slept_on, open.returned) = (SleptOn::Futex(word), true);
                thread.open = Some(open);
            }
        }
    }

    /// Notes of a thread that goes to sleep in its activation, on this futex if on one, that it waits for what is no mutex of pthreads, and
    /// which thread waited by another word of that before; or that it waits for the lock of a file.
    pub(super) fn note_other_lock(&mut self, at: Ns, tid: Tid, word: Option<u64>) {
        let thread = self.timeline.threads.get(tid);
        let Some(thread) = thread.filter(|thread| thread.open.is_some()) else { return };
        let call = SyscallTable::call_of(self.syscalls, thread).filter(|_| word.is_none());
        if call.is_some_and(|(call, table)| table.locks_file(call)) {
            if let Some(open) = &mut self.timeline.threads.get_mut(tid).open {
                open.waits_for_other_lock(OtherLock { at, kind: NoMutex::OfFile, behind: None });
            }
            return;
        }
        let word_of = |thread: &Thread| {
            let (call, table) = SyscallTable::call_of(self.syscalls, thread)?;
            table.waits_for_no_mutex(call)
        };
        let Some(word) = word_of(thread) else { return };
        let waits_too = |other: &Thread| {
            matches!(other.state(), State::Blocked { .. })
                && word_of(other).is_some_and(|other| other != word && other.abs_diff(word) < LARGEST_LOCK)
                && other.is_kin_of(thread)
        };
        let others = self.timeline.threads.active_ids(waits_too).into_iter();
        let since = |other: &Tid| self.timeline.threads.get(*other).and_then(Thread::since);
        let behind = others.min_by_key(since);
        if let Some(open) = &mut self.timeline.threads.get_mut(tid).open {
            open.waits_for_other_lock(OtherLock { at, kind: NoMutex::OfPthreads, behind });
        }
    }

    /// Notes of a thread that `waker` lets go on by its futex, which it waited on for a lock, that this is no mutex where all are let go on
    /// that wait for it: an initialization that is made once (`pthread_once()`, the guard of a local static variable of C++).
    pub(super) fn note_woken_with_all(&mut self, tid: Tid, waker: Tid) {
        let word_of = |of: Tid, word: fn(&SyscallTable, &Syscall) -> Option<u64>| {
            let thread = self.timeline.threads.get(of)?;
            let (call, table) = SyscallTable::call_of(self.syscalls, thread)?;
            word(table, call)
        };
        let word = word_of(waker, SyscallTable::wakes_several_on);
        if word.is_none() || word != word_of(tid, SyscallTable::waits_on) {
            return;
        }
        let thread = self.timeline.threads.get_mut(tid);
        if let (Some(at), Some(open)) = (thread.since(), &mut thread.open) {
            open.waits_for_other_lock(OtherLock { at, kind: NoMutex::WakesAll, behind: None });
        }
    }

    /// A wait for a semaphore that `waker` ended, with it as the owner where the wait is taken for a lock's. A thread that the waiting one
    /// has set off itself in this period gives an answer, if that took notably long, unless both hand the word on.
    pub(super) fn taken_for_a_lock(&self, tid: Tid, wait: Wait, waker: Tid) -> Wait {
        let posts = |waker: &Thread| match &waker.syscall {
            Some(call) => {
                SyscallTable::of_thread(self.syscalls, waker).is_some_and(|table| table.posts(call))
            }
            None => !waker.syscalls_recorded,
        };
        let posted = self.timeline.threads.get(waker).is_some_and(posts);
        let works_for = |open: &Open| {
            let waker = self.timeline.threads.get(waker).and_then(|waker| waker.open.as_ref());
            let errand = waker.and_then(|waker| waker.errand);
            let is_set_off = errand.is_some_and(|errand| errand.of == tid && errand.since >= open.due);
            let is_late = |period| self.is_late_answer(self.timeline.now, tid, period);
            is_set_off && open.period.is_some_and(is_late)
        };
        let word = self.futex_of(tid, wait);
        let confidence = self.timeline.threads.get(tid).filter(|_| posted).and_then(|thread| {
            let in_period = thread.open.as_ref().filter(|open| by_timer(open));
            let seldom =
                thread.pacing.periods.seldom_waits() && in_period.is_some_and(|open| !works_for(open));
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

impl Thread {
    /// Another thread hands it what it waits for by this futex.
    pub(super) fn gets(&mut self, owner: (Tid, Confidence), word: Option<u64>) {
        if let (Some(first), Some(word)) = (self.timeouts.first(), word)
            && lock_of(first.word) == lock_of(word)
        {
            self.history.waited_for(owner, first.since);
            self.timeouts.clear();
        }
    }

    /// True where it goes to sleep for something else than what it has waited for up to a timeout: it has given that up.
    pub(super) fn gives_up(&self, wait: Wait, word: Option<u64>) -> bool {
        let is_other = |last: &Timeout| word.is_none_or(|word| lock_of(word) != lock_of(last.word));
        !self.is_marked && !wait.continues() && self.timeouts.last().is_some_and(is_other)
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
