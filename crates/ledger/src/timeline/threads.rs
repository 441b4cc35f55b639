//! All threads of a trace, by id.

use super::thread::Thread;
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{Ns, Tid};

/// No kernel hands out a higher thread id (PID_MAX_LIMIT, `include/linux/threads.h`); a higher one
/// comes from a damaged event.
const MAX_TID: usize = 4 * 1024 * 1024;

/// Of so many threads, those that ended are forgotten, and all but so many of those that sleep.
const MANY: usize = 1 << 13;

/// See the module.
#[derive(Default)]
pub(crate) struct Threads {
    /// One more than the index in `threads`, by id; 0 for a thread not seen. Ids are small, and this
    /// is looked up several times for each event.
    index: Vec<u32>,
    /// The same for ids that no kernel hands out.
    strange: HashMap<i32, u32>,
    threads: Vec<Thread>,
    /// Those that run, wait, are in an activation or have a past to be forgotten, by index. A machine has thousands of
    /// threads that sleep through all of a trace.
    active: Vec<u32>,
    /// How many pieces of the past the others hold.
    at_rest: usize,
    has_forgotten: bool,
}

impl Threads {
    /// The thread, known from now on.
    #[inline]
    pub(crate) fn get_mut(&mut self, tid: Tid) -> &mut Thread {
        // A negative id is beyond every index.
        let slot = match self.index.get(tid.0 as u32 as usize) {
            Some(&slot) if slot != 0 => slot,
            _ => self.add(tid),
        };
        self.activated(slot - 1)
    }

    /// One more than the index of a thread that is not in the index.
    #[cold]
    fn add(&mut self, tid: Tid) -> u32 {
        let slot = match usize::try_from(tid.0) {
            Ok(id) if id <= MAX_TID => {
                if id >= self.index.len() {
                    self.index.resize(id + 1, 0);
                }
                &mut self.index[id]
            }
            _ => self.strange.entry(tid.0).or_default(),
        };
        if *slot == 0 {
            self.threads.push(Thread::new(tid));
            *slot = self.threads.len() as u32;
        }
        *slot
    }

    /// The index of a thread that was seen.
    #[inline]
    fn find(&self, tid: Tid) -> Option<u32> {
        let slot = self.index.get(tid.0 as u32 as usize).or_else(|| self.strange.get(&tid.0));
        slot?.checked_sub(1)
    }

    /// The thread, if it was seen.
    #[inline]
    pub(crate) fn get(&self, tid: Tid) -> Option<&Thread> {
        self.threads.get(self.find(tid)? as usize)
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn get_if_seen_mut(&mut self, tid: Tid) -> Option<&mut Thread> {
        let index = self.find(tid)?;
        Some(self.activated(index))
    }

    /// The thread of that index, active from now on.
    #[inline]
    fn activated(&mut self, index: u32) -> &mut Thread {
        let thread = &mut self.threads[index as usize];
        if !thread.is_active {
            thread.is_active = true;
            self.at_rest -= thread.history.len();
            self.active.push(index);
        }
        thread
    }

    /// A thread that begins: nothing of one that had the same id before is true of it, but what is to be
    /// reported of that one.
    pub(crate) fn begin(&mut self, tid: Tid) -> &mut Thread {
        let thread = self.get_mut(tid);
        if thread.ended && !thread.is_reported {
            *thread = Thread::new(tid);
            thread.is_active = true;
        }
        thread.ended = false;
        thread
    }

    /// Forgets threads of which nothing is reported, where they are many: those that ended before `horizon`, as a shell
    /// script starts thousands, and those that have slept longest.
    fn forget_threads(&mut self, horizon: Ns) {
        const LATEST: usize = 16;
        if self.threads.len() < MANY {
            return;
        }
        let asleep_since = |thread: &Thread| thread.since().unwrap_or(Ns(i64::MIN));
        let mut asleep: Vec<Ns> =
            self.threads.iter().filter(|thread| thread.is_forgettable()).map(asleep_since).collect();
        let long_ago = (asleep.len() > MANY).then(|| {
            let over = asleep.len() - MANY;
            *asleep.select_nth_unstable(over).1
        });
        let is_needed = |thread: &Thread| {
            let recent = thread.since().is_some_and(|since| since >= horizon);
            let gone = thread.ended && !recent && thread.open.is_none();
            let asleep =
                || long_ago.is_some_and(|until| asleep_since(thread) <= until) && thread.is_forgettable();
            thread.is_reported || !gone && !asleep()
        };
        // The latest of those that ended may be what the user means.
        let over = self.threads.iter().filter(|thread| !is_needed(thread));
        let mut latencies: Vec<Option<Ns>> = over.map(|thread| thread.tally.worst()).collect();
        let usual = match latencies.len() > LATEST {
            true => *latencies.select_nth_unstable_by_key(LATEST, |&latency| Reverse(latency)).1,
            false => None,
        };
        // In place: a copy of so many takes too much memory.
        let before = self.threads.len();
        self.threads.retain(|thread| is_needed(thread) || thread.tally.worst() > usual);
        self.has_forgotten |= self.threads.len() < before;
        self.index.fill(0);
        self.strange.clear();
        self.active.clear();
        self.at_rest = 0;
        for (slot, thread) in (1..).zip(&self.threads) {
            match thread.is_active {
                true => self.active.push(slot - 1),
                false => self.at_rest += thread.history.len(),
            }
            match self.index.get_mut(thread.tid.0 as u32 as usize) {
                Some(index) => *index = slot,
                None => drop(self.strange.insert(thread.tid.0, slot)),
            }
        }
    }

    /// All of them, in order of appearance.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter()
    }

    /// The same, to change them. None becomes active by it.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.threads.iter_mut()
    }

    /// Those that run, wait or are in an activation are among these.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Thread> {
        self.active.iter().filter_map(|&index| self.threads.get(index as usize))
    }

    /// The ids of those `active` ones that satisfy a condition, in order of appearance.
    pub(crate) fn active_ids(&self, holds: impl Fn(&Thread) -> bool) -> Vec<Tid> {
        let is =
            |&index: &u32| self.threads.get(index as usize).filter(|thread| holds(thread)).map(|_| index);
        let mut found: Vec<u32> = self.active.iter().filter_map(is).collect();
        found.sort_unstable();
        found.into_iter().filter_map(|index| Some(self.threads.get(index as usize)?.tid)).collect()
    }

    /// True where there were so many that some have been forgotten.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// True where more threads than any machine has are in activations.
    pub(crate) fn are_very_many(&self) -> bool {
        self.active.len() > 2 * MANY
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }

    /// How many pieces of the past they hold.
    pub(crate) fn held(&self) -> usize {
        self.at_rest + self.active().map(|thread| thread.history.len()).sum::<usize>()
    }

    /// Forgets what was over by `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        let very_many = self.are_very_many();
        let Threads { threads, active, at_rest, .. } = self;
        active.retain(|&index| {
            let thread = &mut threads[index as usize];
            // Of so many, even what was a moment ago takes too much memory.
            thread.forget(if very_many && thread.is_asleep() { Ns::MAX } else { horizon });
            thread.is_active = !thread.is_at_rest();
            if !thread.is_active {
                // Of thousands that sleep, most have a long past behind them.
                thread.history.release();
                *at_rest += thread.history.len();
            }
            thread.is_active
        });
        self.forget_threads(horizon);
    }
}

impl Thread {
    /// True of two threads of one program, as far as their forks were recorded.
    pub(crate) fn is_kin_of(&self, other: &Thread) -> bool {
        self.is_related_to(other, |thread| !thread.has_executed)
    }

    /// True of two threads of one process, where the calls that started them show that: a fork is a process of its own.
    pub(crate) fn shares_process_with(&self, other: &Thread) -> bool {
        let is_thread = |thread: &Thread| !thread.has_executed && thread.lifetime.is_of_parents_process;
        self.is_related_to(other, is_thread)
    }

    /// True of a thread itself, of one that started the other, and of two that the same one started: where `stays` is true of
    /// those that were started.
    fn is_related_to(&self, other: &Thread, stays: impl Fn(&Thread) -> bool) -> bool {
        let started = |by: &Thread, thread: &Thread| thread.forked_by == Some(by.tid) && stays(thread);
        let siblings =
            self.forked_by.is_some() && self.forked_by == other.forked_by && stays(self) && stays(other);
        self.tid == other.tid || started(self, other) || started(other, self) || siblings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::states::State;
    use whylate_base::{Cpu, Policy};

    #[test]
    fn threads_that_ended_are_forgotten_where_they_are_many() {
        let mut threads = Threads::default();
        for id in -3..20_000 {
            let thread = threads.get_mut(Tid(id));
            thread.ended = id % 2 != 0;
            let state = if thread.ended { State::Unknown } else { State::Queued(Cpu(0)) };
            thread.enter(Ns(i64::from(id)), state);
            thread.tally.latency = Some(Ns(if id == 5 { 900 } else { 7 }));
        }
        threads.forget_threads(Ns(10_001));
        assert_eq!(threads.iter().count(), 15_002);
        // The latest of them stays: it may be what the user means.
        for (id, there) in
            [(5, true), (-3, false), (-2, true), (1, false), (2, true), (9_999, false), (10_001, true)]
        {
            let found = threads.get(Tid(id)).map(|thread| thread.tid);
            assert_eq!(found, there.then_some(Tid(id)));
        }
        assert_eq!(threads.get_mut(Tid(1)).since(), None);
        assert_eq!(threads.get_mut(Tid(2)).since(), Some(Ns(2)));
        threads.get_mut(Tid(10_001)).rename(Ns(20_000), "before".into());
        assert!(threads.begin(Tid(10_001)).comm().is_empty());
    }

    #[test]
    fn of_very_many_that_sleep_the_last_are_kept() {
        let mut threads = Threads::default();
        let many = 3 * MANY as i32;
        for id in 0..many {
            threads.get_mut(Tid(id)).enter(Ns(i64::from(id)), State::Unknown);
        }
        threads.get_mut(Tid(7)).is_reported = true;
        threads.get_mut(Tid(8)).set_policy(Ns(8), Policy::Fifo);
        assert!(threads.are_very_many());
        threads.forget(Ns(0));
        assert!(!threads.are_very_many() && threads.len() <= MANY + 2, "{}", threads.len());
        for (id, there) in [(7, true), (8, true), (9, false), (many / 2, false), (many - 1, true)] {
            assert_eq!(threads.get(Tid(id)).is_some(), there, "{id}");
        }
        assert_eq!(threads.held(), threads.len());
    }
}
