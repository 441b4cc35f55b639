//! Locks, from the waits that were seen for them.
//!
//! A lock shows only where a thread waits for it. Its owner is then the thread that ends the wait; it holds the lock from the
//! beginning of its work before the wait, at the latest, to the wake-up. Where a waiter gives the lock back is not seen unless
//! another one waits for it then: it gives it back at once.

use super::tape::{LockKey, Mark, Tape};
use crate::model::{Lock, LockProtocol};
use rustc_hash::{FxHashMap, FxHashSet};
use whylate_base::Ns;

/// Puts locks in the place of waits for them; returns the locks.
pub(super) fn insert(tapes: &mut [Tape]) -> Vec<Lock> {
    let mut waits: FxHashSet<(usize, Ns)> = FxHashSet::default();
    for (thread, tape) in tapes.iter().enumerate() {
        for mark in &tape.marks {
            if let Mark::Sleep(sleep) = mark
                && sleep.lock.is_some()
                && sleep.ends.is_none()
                && sleep.woken.is_some_and(|woken| woken.by.is_some())
            {
                waits.insert((thread, sleep.at));
            }
        }
    }
    let mut locks = Locks::default();
    for (thread, tape) in tapes.iter_mut().enumerate() {
        replace(thread, &mut tape.marks, &waits, &mut locks);
    }
    locks.all
}

#[derive(Default)]
struct Locks {
    all: Vec<Lock>,
    by_key: FxHashMap<LockKey, usize>,
}

impl Locks {
    fn index(&mut self, key: LockKey) -> usize {
        *self.by_key.entry(key).or_insert_with(|| {
            let protocol = if key.inherits { LockProtocol::Inherit } else { LockProtocol::None };
            self.all.push(Lock { name: format!("{:#x}", key.address), protocol });
            self.all.len() - 1
        })
    }
}

fn replace(thread: usize, marks: &mut Vec<Mark>, waits: &FxHashSet<(usize, Ns)>, locks: &mut Locks) {
    // Marks to insert before a place, in this order among those of one place.
    let mut insertions: Vec<(usize, Mark)> = Vec::new();
    // Of each lock: after which place it is free again, and whether it is held.
    let mut known: FxHashMap<LockKey, (usize, bool)> = FxHashMap::default();
    for at in 0..marks.len() {
        match marks[at] {
            Mark::Sleep(sleep) if waits.contains(&(thread, sleep.at)) => {
                let Some(key) = sleep.lock else { continue };
                let lock = locks.index(key);
                if let Some((before, true)) = known.insert(key, (at + 1, true)) {
                    insertions.push((before, Mark::Unlock(lock)));
                }
                marks[at] = Mark::Lock(lock);
            }
            Mark::Release { key, to, since } if waits.contains(&(to, since)) => {
                let lock = locks.index(key);
                let (free, held) = known.get(&key).copied().unwrap_or((0, false));
                if !held {
                    insertions.push((acquired(&marks[..at], since).max(free), Mark::Lock(lock)));
                }
                marks[at] = Mark::Unlock(lock);
                known.insert(key, (at + 1, false));
            }
            Mark::Release { to, .. } => marks[at] = Mark::Wake(to),
            _ => {}
        }
    }
    for (key, (after, held)) in known {
        if held {
            insertions.push((after, Mark::Unlock(locks.index(key))));
        }
    }
    if insertions.is_empty() {
        return;
    }
    insertions.sort_by_key(|&(at, _)| at);
    let mut inserted = insertions.into_iter().peekable();
    let mut all = Vec::with_capacity(marks.len() + inserted.len());
    for (at, mark) in marks.drain(..).enumerate() {
        while let Some((_, mark)) = inserted.next_if(|(before, _)| *before <= at) {
            all.push(mark);
        }
        all.push(mark);
    }
    all.extend(inserted.map(|(_, mark)| mark));
    *marks = all;
}

/// The place at which the owner had a lock by `since` for certain, as late as that can be: the beginning of what it did then.
fn acquired(marks: &[Mark], since: Ns) -> usize {
    for (at, mark) in marks.iter().enumerate().rev() {
        match mark {
            Mark::Sleep(sleep) if sleep.at <= since => {
                let slept = sleep.woken.is_none_or(|woken| woken.at > since);
                return if slept { at } else { at + 1 };
            }
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::super::tape::{Sleep, Woken};
    use super::*;
    use whylate_base::{Cpu, Tid};

    fn tape(marks: Vec<Mark>) -> Tape {
        Tape { marks, ..Tape::new(Tid(1), "t".into()) }
    }

    fn sleep(at: i64, woken: i64, by: Option<usize>, lock: Option<LockKey>) -> Mark {
        let woken = Woken { at: Ns(woken), by, cpu: Cpu(0), dispatch: None };
        Mark::Sleep(Sleep { at: Ns(at), lock, woken: Some(woken), ends: None })
    }

    #[test]
    fn the_owner_has_the_lock_from_its_work_before_the_wait() {
        let key = LockKey { address: 64, inherits: true };
        let waiter = tape(vec![Mark::Run(Ns(5)), sleep(50, 80, Some(1), Some(key)), Mark::Run(Ns(7))]);
        let release = Mark::Release { key, to: 0, since: Ns(50) };
        let owner = tape(vec![sleep(0, 30, None, None), Mark::Run(Ns(45)), release, Mark::Run(Ns(3))]);
        let mut tapes = [waiter, owner];
        let locks = insert(&mut tapes);
        assert_eq!((locks.len(), locks[0].protocol), (1, LockProtocol::Inherit));
        assert_eq!(
            tapes[0].marks,
            [Mark::Run(Ns(5)), Mark::Lock(0), Mark::Unlock(0), Mark::Run(Ns(7))],
            "what the waiter does with it is not seen"
        );
        assert_eq!(
            tapes[1].marks,
            [sleep(0, 30, None, None), Mark::Lock(0), Mark::Run(Ns(45)), Mark::Unlock(0), Mark::Run(Ns(3))]
        );
    }

    #[test]
    fn a_wait_that_an_interrupt_ends_is_no_lock() {
        let key = LockKey { address: 64, inherits: false };
        let mut tapes = [tape(vec![sleep(50, 80, None, Some(key))])];
        assert!(insert(&mut tapes).is_empty());
        assert_eq!(tapes[0].marks, [sleep(50, 80, None, Some(key))]);
    }
}
