//! Spinlocks that a CPU did not get, and which thread holds them (`kernel/locking/spinlock_debug.c`, CONFIG_DEBUG_SPINLOCK).
//!
//! ```text
//! BUG: spinlock lockup suspected on CPU#3, app/2329
//!  lock: 0xffffffc07bed2e00, .magic: dead4ead, .owner: other/2270, .owner_cpu: 0
//! ```
//!
//! The kernel wrote them until 4.8, after it had tried to take the lock for about a second. The owner is the thread that took the lock,
//! and the CPU on which it did so. The lines of several CPUs may be mixed: which lock is of which waiter is then not shown.

use super::owner::LoggedThread;
use super::stamps::{cpu_behind, cpus, listed};

/// More are not kept.
const MOST: usize = 64;
/// So many waiters are named.
const MOST_NAMED: usize = 4;

/// A thread that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    thread: LoggedThread,
    cpu: Option<u32>,
}

/// What such messages show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SpinLockups {
    waiters: Vec<(u32, LoggedThread)>,
    owners: Vec<Owner>,
    /// Some lock has no owner.
    has_unknown: bool,
    /// The CPUs of the waiters.
    cpus: Vec<u32>,
}

impl SpinLockups {
    /// Takes in a line; false where it is none of these.
    pub(super) fn line(&mut self, message: &str) -> bool {
        if let Some(waiter) = waiter(message) {
            if !self.cpus.contains(&waiter.0) && self.cpus.len() < MOST {
                self.cpus.push(waiter.0);
            }
            if !self.waiters.contains(&waiter) && self.waiters.len() < MOST {
                self.waiters.push(waiter);
            }
            return true;
        }
        let Some((_, owner)) = message.split_once(".owner: ") else { return false };
        match self::owner(owner) {
            Some(owner) if !self.owners.contains(&owner) && self.owners.len() < MOST => {
                self.owners.push(owner)
            }
            Some(_) => {}
            None => self.has_unknown = true,
        }
        true
    }

    /// The thread that holds the lock, where it is the only one.
    pub(super) fn owner(&self) -> Option<&LoggedThread> {
        match self.owners.as_slice() {
            [owner] if !self.has_unknown => Some(&owner.thread),
            _ => None,
        }
    }

    /// The CPUs that waited.
    pub(super) fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    /// What it means; `None` where no waiter is named.
    pub(super) fn meaning(&self) -> Option<String> {
        let (named, further) = self.waiters.split_at(self.waiters.len().min(MOST_NAMED));
        let mut waiters: Vec<String> =
            named.iter().map(|(cpu, thread)| format!("{thread} on CPU {cpu}")).collect();
        if !further.is_empty() {
            waiters.push(format!("{} more", further.len()));
        }
        if waiters.is_empty() {
            return None;
        }
        let owner = |owner: &Owner| {
            let on = owner.cpu.map(|cpu| format!(", which took it on {}", cpus(&[cpu]))).unwrap_or_default();
            format!("{}{on}", owner.thread)
        };
        let owners: Vec<String> = self.owners.iter().map(owner).collect();
        let held = match (owners.is_empty(), self.has_unknown) {
            (true, _) => "; its owner is not shown".to_owned(),
            (false, false) => format!("; its owner is {}", listed(&owners)),
            (false, true) => format!("; the owners that are shown are {}", listed(&owners)),
        };
        let waiters = listed(&waiters);
        Some(format!("{waiters} did not get a spinlock for about a second or more{held}"))
    }
}

/// `BUG: spinlock lockup suspected on CPU#3, app/2329`; until 3.9 without `suspected`, and with the lock behind it.
fn waiter(message: &str) -> Option<(u32, LoggedThread)> {
    let (_, rest) = message.split_once("spinlock lockup ")?;
    let (cpu, rest) = rest.split_once("on CPU#").and_then(|(_, rest)| rest.split_once(", "))?;
    let thread = rest.split_once(", ").map_or(rest, |(thread, _)| thread);
    Some((cpu.parse().ok()?, thread_of(thread)?))
}

/// `app/1/2329`
fn thread_of(text: &str) -> Option<LoggedThread> {
    let (name, pid) = text.trim().rsplit_once('/')?;
    LoggedThread::with_pid(name, pid.parse().ok()?)
}

/// `other/2270, .owner_cpu: 0`; `<none>/-1, .owner_cpu: -1`
fn owner(text: &str) -> Option<Owner> {
    let (thread, rest) = text.split_once(", ").unwrap_or((text, ""));
    Some(Owner { thread: thread_of(thread)?, cpu: cpu_behind(rest, ".owner_cpu:") })
}

#[cfg(test)]
mod tests {
    use super::SpinLockups;

    fn read(text: &str) -> Option<String> {
        let mut lockups = SpinLockups::default();
        text.lines().for_each(|line| {
            lockups.line(line);
        });
        lockups.meaning()
    }

    #[test]
    fn the_owner_of_a_spinlock_is_named() {
        let one = "BUG: spinlock lockup suspected on CPU#3, mill/7\n lock: 0xffff01, .magic: dead4ead, .owner: press/1/9, .owner_cpu: 0\n";
        let owner = "its owner is press/1 (9), which took it on CPU 0";
        let waited = "mill (7) on CPU 3 did not get a spinlock for about a second or more";
        assert_eq!(read(one), Some(format!("{waited}; {owner}")));
        let two = format!(
            "{one}BUG: spinlock lockup on CPU#1, swapper/1/0, ffff01\n lock: a+0x0/0x8, .magic: dead4ead, .owner: press/1/9, .owner_cpu: 0\n"
        );
        let both =
            "mill (7) on CPU 3 and swapper/1 (0) on CPU 1 did not get a spinlock for about a second or more";
        assert_eq!(read(&two), Some(format!("{both}; {owner}")));
        let none = one.replace("press/1/9, .owner_cpu: 0", "<none>/-1, .owner_cpu: -1");
        assert_eq!(read(&none), Some(format!("{waited}; its owner is not shown")));
        let other = format!("{one}{none}");
        assert_eq!(
            read(&other),
            Some(format!("{waited}; the owners that are shown are press/1 (9), which took it on CPU 0"))
        );
        assert_eq!(read("BUG: spinlock lockup suspected"), None);
    }
}
