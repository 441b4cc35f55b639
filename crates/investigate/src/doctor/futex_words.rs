//! The futexes of a program: which threads wait and wake at each address.

use super::facts::{Call, Observation, ThreadFacts};
use super::futex::FutexCall;
use std::collections::BTreeMap;
use whylate_base::Tid;

/// The calls at one address of one process.
pub(super) struct FutexWord<'a> {
    pub(super) pid: Tid,
    pub(super) address: u64,
    pub(super) uses: Vec<FutexUse<'a>>,
}

/// One call at it.
#[derive(Clone, Copy)]
pub(super) struct FutexUse<'a> {
    pub(super) thread: &'a ThreadFacts,
    pub(super) call: &'a Call,
    pub(super) futex: FutexCall,
}

/// All futexes, by process and address. What is shared between processes has an address in each.
pub(super) fn words(observation: &Observation) -> Vec<FutexWord<'_>> {
    let mut words: BTreeMap<(Tid, u64), FutexWord<'_>> = BTreeMap::new();
    for call in &observation.calls {
        let (Some(futex), Some(thread)) = (FutexCall::of(call), observation.threads.get(&call.tid)) else {
            continue;
        };
        let word = words.entry((thread.pid, futex.address)).or_insert_with(|| FutexWord {
            pid: thread.pid,
            address: futex.address,
            uses: Vec::new(),
        });
        word.uses.push(FutexUse { thread, call, futex });
    }
    words.into_values().collect()
}

impl<'a> FutexWord<'a> {
    /// True where every wait is for the value that only mutexes have, and every wake-up is of one waiter: a barrier or a
    /// counter has other values now and then.
    pub(super) fn is_mutex(&self) -> bool {
        self.uses.iter().all(|one| one.futex.is_mutex_wait() || one.futex.is_pi() || one.futex.wakes_one())
    }

    /// The waits.
    pub(super) fn waits(&self) -> impl Iterator<Item = &FutexUse<'a>> {
        self.uses.iter().filter(|one| one.futex.is_wait())
    }

    /// The greatest and the smallest rank of its threads.
    pub(super) fn ranks(&self) -> Option<(u32, u32)> {
        let ranks = || self.uses.iter().map(|one| one.thread.rank());
        Some((ranks().max()?, ranks().min()?))
    }
}
