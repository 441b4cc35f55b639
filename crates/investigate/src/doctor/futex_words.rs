//! The futexes of a program: which threads wait and wake at each address.

use super::facts::{Call, Observation, ThreadFacts};
use super::futex::FutexCall;
use std::collections::BTreeMap;
use whylate_base::Tid;

/// The calls at one word.
pub(super) struct FutexWord<'a> {
    pub(super) uses: Vec<FutexUse<'a>>,
}

/// One call at it.
#[derive(Clone, Copy)]
pub(super) struct FutexUse<'a> {
    pub(super) thread: &'a ThreadFacts,
    pub(super) call: &'a Call,
    pub(super) futex: FutexCall,
}

/// What tells one word from others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WordKey {
    /// An address of a process.
    Private(Tid, u64),
    /// A place in a file or in shared memory, by its path: the address differs from process to process.
    Shared(String, u64),
}

/// All futexes.
pub(super) fn words(observation: &Observation) -> Vec<FutexWord<'_>> {
    let mut words: BTreeMap<WordKey, FutexWord<'_>> = BTreeMap::new();
    for call in &observation.calls {
        let (Some(futex), Some(thread)) = (FutexCall::of(call), observation.threads.get(&call.tid)) else {
            continue;
        };
        let shared = (!futex.is_private()).then(|| shared(observation, thread.pid, futex.address)).flatten();
        let key = shared.unwrap_or(WordKey::Private(thread.pid, futex.address));
        let word = words.entry(key).or_insert_with(|| FutexWord { uses: Vec::new() });
        word.uses.push(FutexUse { thread, call, futex });
    }
    words.into_values().collect()
}

/// The place of an address in what its process shares with others.
fn shared(observation: &Observation, pid: Tid, address: u64) -> Option<WordKey> {
    let looks = &observation.processes.get(&pid)?.mappings;
    let mut ranges = looks.iter().flat_map(|(_, ranges)| ranges).filter(|range| range.is_shared);
    let range = ranges.find(|range| range.start <= address && address < range.end)?;
    Some(WordKey::Shared(range.path.clone(), address - range.start + range.offset))
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
