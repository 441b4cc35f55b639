//! Pages that were locked for two objects and unlocked for one: locks of memory do not nest (mlock(2)).

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Severity, Tid};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "unbalanced-lock", page: page!("unbalanced-lock"), needs: Needs::AllCalls, find };

const PAGE: u64 = 4096;

/// A range that a call locked, in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Lock {
    address: u64,
    length: u64,
}

impl Lock {
    fn of(call: &Call) -> Lock {
        Lock { address: call.args[0], length: call.args[1] }
    }

    /// The pages that the kernel locks: all that the range touches.
    fn pages(self) -> std::ops::Range<u64> {
        self.address / PAGE..self.address.saturating_add(self.length).div_ceil(PAGE)
    }

    fn shares_pages(self, other: Lock) -> bool {
        self.pages().start < other.pages().end && other.pages().start < self.pages().end
    }
}

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    observation.processes.keys().flat_map(|&pid| of_process(observation, pid)).collect()
}

fn of_process(observation: &Observation, pid: Tid) -> Vec<DoctorFinding> {
    // What is unlocked after the last period delays none.
    let realtime = observation.realtime_threads().filter(|thread| thread.pid == pid);
    let Some(end) = realtime.filter_map(|thread| thread.path).map(|path| path.end).max() else {
        return Vec::new();
    };
    let mut locks: Vec<Lock> = Vec::new();
    let mut lost: Vec<(&ThreadFacts, &Call)> = Vec::new();
    for (thread, call) in calls_of(observation, pid) {
        let range = Lock::of(call);
        match call.call {
            SystemCall::Mlock | SystemCall::Mlock2 => {
                lost.retain(|(_, unlock)| !Lock::of(unlock).shares_pages(range));
                locks.push(range);
            }
            SystemCall::MlockAll => lost.clear(),
            SystemCall::MunlockAll => locks.clear(),
            SystemCall::Munmap => {
                lost.retain(|(_, unlock)| !Lock::of(unlock).shares_pages(range));
                locks.retain(|lock| !lock.shares_pages(range));
            }
            SystemCall::Munlock => match locks.iter().rposition(|lock| *lock == range) {
                Some(own) => {
                    locks.remove(own);
                    if call.start < end && locks.iter().any(|lock| lock.shares_pages(range)) {
                        lost.push((thread, call));
                    }
                }
                // A range that was never locked as such: the program unlocks all that is in it.
                None => locks.retain(|lock| !lock.shares_pages(range)),
            },
            _ => {}
        }
    }
    lost.into_iter().map(|(thread, call)| finding(observation, thread, call)).collect()
}

/// The calls of a process that succeeded, in the order of their start.
fn calls_of(observation: &Observation, pid: Tid) -> impl Iterator<Item = (&ThreadFacts, &Call)> {
    observation.calls.iter().filter(|call| call.ret == Some(0)).filter_map(move |call| {
        let thread = observation.threads.get(&call.tid).filter(|thread| thread.pid == pid)?;
        Some((thread, call))
    })
}

fn finding(observation: &Observation, thread: &ThreadFacts, call: &Call) -> DoctorFinding {
    let pages = Lock::of(call).pages();
    let title = format!(
        "{} unlocks {} at {:#x}, where another mlock() was to hold",
        thread.name(),
        if pages.end - pages.start == 1 { "a page" } else { "pages" },
        pages.start * PAGE
    );
    DoctorFinding::new(RULE.code, Severity::Warning, title)
        .of(thread)
        .at(observation.location(call.stack))
        .because(WHY)
        .fix(FIX)
}

const WHY: &str = "locks of memory do not nest: one munlock() unlocks a page, however often it was locked, also for another object \
     on the same page; the kernel may then take it away";

const FIX: &[&str] = &[
    "give each object that is locked pages of its own: posix_memalign() with the page size, and whole pages in size",
    "count the users of each page, and unlock it with the last one",
    "leave the memory locked until the end",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{END, call, found, program};
    use whylate_base::{Ns, Policy};

    #[test]
    fn a_page_loses_its_lock_with_the_first_munlock() {
        use SystemCall as C;
        let lock = (C::Mlock, 0x5000_u64, 1024_u64);
        let second = (C::Mlock, 0x5400, 1024);
        let unlock = (C::Munlock, 0x5400, 1024);
        for (what, calls, expected) in [
            ("two objects of one page", vec![lock, second, unlock], true),
            ("locked twice", vec![lock, lock, (C::Munlock, 0x5000, 1024)], true),
            ("both are unlocked", vec![lock, second, unlock, (C::Munlock, 0x5000, 1024)], true),
            ("one object", vec![second, unlock], false),
            ("another page", vec![(C::Mlock, 0x4000, 4096), second, unlock], false),
            ("locked again", vec![lock, second, unlock, lock], false),
            ("all locked again", vec![lock, second, unlock, (C::MlockAll, 3, 0)], false),
            ("unmapped", vec![lock, second, unlock, (C::Munmap, 0x5000, 4096)], false),
            ("all at once", vec![lock, second, (C::Munlock, 0x5000, 4096)], false),
        ] {
            for (start, is_in_time) in [(10, true), (END, false)] {
                let mut observation = program(&[(11, Policy::Fifo, 50), (12, Policy::Other, 0)]);
                let made = |(n, &(kind, address, length)): (i64, &(C, u64, u64))| {
                    let start = Ns(start + 10 * n);
                    Call { start, end: Some(start), ..call(12, kind, &[address, length], 5) }
                };
                observation.calls = (0..).zip(&calls).map(made).collect();
                let expected: &[_] =
                    if expected && is_in_time { &[("unbalanced-lock", Some(5))] } else { &[] };
                assert_eq!(found(&observation), expected, "{what} {start}");
            }
        }
    }
}
