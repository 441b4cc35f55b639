//! All threads of a trace, by id.

use super::thread::Thread;
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{Ns, Tid};

/// No kernel hands out a higher thread id (PID_MAX_LIMIT, `include/linux/threads.h`); a higher one
/// comes from a damaged event.
const MAX_TID: usize = 4 * 1024 * 1024;

/// See the module.
#[derive(Default)]
pub(crate) struct Threads {
    /// One more than the index in `threads`, by id; 0 for a thread not seen. Ids are small, and this
    /// is looked up several times for each event.
    index: Vec<u32>,
    /// The same for ids that no kernel hands out.
    strange: HashMap<i32, u32>,
    threads: Vec<Thread>,
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
        &mut self.threads[slot as usize - 1]
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

    /// The thread, if it was seen.
    #[inline]
    pub(crate) fn get(&self, tid: Tid) -> Option<&Thread> {
        let slot = self.index.get(tid.0 as u32 as usize).or_else(|| self.strange.get(&tid.0));
        self.threads.get((*slot? as usize).checked_sub(1)?)
    }

    /// A thread that begins: nothing of one that had the same id before is true of it, but what is to be
    /// reported of that one.
    pub(crate) fn begin(&mut self, tid: Tid) -> &mut Thread {
        let thread = self.get_mut(tid);
        if thread.ended && !thread.is_reported {
            *thread = Thread::new(tid);
        }
        thread.ended = false;
        thread
    }

    /// Forgets the threads that ended before `horizon` and of which nothing is reported, where they are many:
    /// a shell script starts thousands.
    pub(crate) fn forget_ended(&mut self, horizon: Ns) {
        const MANY: usize = 1 << 14;
        const LATEST: usize = 16;
        if self.threads.len() < MANY {
            return;
        }
        let is_needed = |thread: &Thread| {
            let recent = thread.since().is_some_and(|since| since >= horizon);
            !thread.ended || recent || thread.open.is_some() || thread.is_reported
        };
        // The latest of those that ended may be what the user means.
        let over = self.threads.iter().filter(|thread| !is_needed(thread));
        let mut latencies: Vec<Option<Ns>> = over.map(|thread| thread.tally.latency).collect();
        let usual = match latencies.len() > LATEST {
            true => *latencies.select_nth_unstable_by_key(LATEST, |&latency| Reverse(latency)).1,
            false => None,
        };
        let needed = |thread: &Thread| is_needed(thread) || thread.tally.latency > usual;
        self.index.fill(0);
        self.strange.clear();
        for thread in std::mem::take(&mut self.threads).into_iter().filter(needed) {
            let slot = self.threads.len() as u32 + 1;
            match self.index.get_mut(thread.tid.0 as u32 as usize) {
                Some(index) => *index = slot,
                None => drop(self.strange.insert(thread.tid.0, slot)),
            }
            self.threads.push(thread);
        }
    }

    /// All of them, in order of appearance.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter()
    }

    /// All of them, in order of appearance.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.threads.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::states::State;

    #[test]
    fn threads_that_ended_are_forgotten_where_they_are_many() {
        let mut threads = Threads::default();
        for id in -3..20_000 {
            let thread = threads.get_mut(Tid(id));
            thread.enter(Ns(i64::from(id)), State::Unknown);
            thread.ended = id % 2 != 0;
            thread.tally.latency = Some(Ns(if id == 5 { 900 } else { 7 }));
        }
        threads.forget_ended(Ns(10_001));
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
}
