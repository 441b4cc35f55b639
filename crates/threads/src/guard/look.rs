//! One look at the threads of the machine: which are runnable, and for how long each has run.
//!
//! Only files of /proc are read. debugfs has the run queues as well, but reading them takes each queue's lock with
//! interrupts disabled (`print_cpu()`, kernel/sched/debug.c), which is a latency of its own.

use crate::rank::rank;
use crate::select::{self, ThreadName};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use whylate_base::{Cpu, Ns, Policy, Tid};
use whylate_host::{FsRoot, RunTime, ThreadStat};
use whylate_sys::{Clock, now};

/// A thread as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedThread {
    /// Its id, its process and its name.
    pub name: ThreadName,
    /// When it started, in clock ticks since boot: ids are used again.
    pub started: u64,
    /// Its policy; `None`: one that whylate does not know.
    pub policy: Option<Policy>,
    /// 1 to 99 for SCHED_FIFO and SCHED_RR, 0 for all others.
    pub priority: u32,
}

/// `logger:212 (SCHED_FIFO priority 50)`.
impl fmt::Display for WatchedThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} (", self.name.comm, self.name.tid)?;
        f.write_str(self.policy.map_or("unknown policy", Policy::constant))?;
        match self.priority {
            0 => f.write_str(")"),
            priority => write!(f, " priority {priority})"),
        }
    }
}

/// What identifies a thread: its id, and when it started.
pub(super) type ThreadKey = (Tid, u64);

impl WatchedThread {
    pub(super) fn key(&self) -> ThreadKey {
        (self.name.tid, self.started)
    }

    /// Whether it runs before `other` on the same CPU.
    pub(super) fn outranks(&self, other: &WatchedThread) -> bool {
        rank(self.policy, self.priority) < rank(other.policy, other.priority)
    }
}

/// A thread with what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LookedThread {
    pub(super) thread: WatchedThread,
    /// Where it runs, or would.
    pub(super) cpu: Cpu,
    /// `R`: it runs, or would.
    pub(super) is_runnable: bool,
    /// For how long it has run.
    pub(super) cpu_time: Ns,
    /// The same in clock ticks. On a CPU without ticks this is newer: the kernel reads the clock for it
    /// (`task_cputime_adjusted()`, kernel/sched/cputime.c), while the sum waits for a kworker that may itself starve.
    pub(super) cpu_ticks: u64,
}

/// The runnable threads, and all those of some CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// CLOCK_MONOTONIC, when it began.
    pub(super) at: Ns,
    pub(super) threads: Vec<LookedThread>,
    /// How many threads the machine has.
    pub(super) all: usize,
}

impl Look {
    /// Looks at all threads. Of `whole` CPUs it also reports those that sleep.
    pub(super) fn take(whole: &BTreeSet<Cpu>) -> Look {
        let tree = FsRoot::live();
        let mut look = Look { at: now(Clock::Monotonic), ..Look::default() };
        for pid in select::processes() {
            for tid in select::thread_ids(pid) {
                look.all += 1;
                look.threads.extend(looked_at(&tree, pid, tid, whole));
            }
        }
        look
    }
}

/// `None`: it sleeps, or has ended.
fn looked_at(tree: &FsRoot, pid: Tid, tid: Tid, whole: &BTreeSet<Cpu>) -> Option<LookedThread> {
    let text = stat(pid, tid)?;
    let stat = ThreadStat::parse(&text)?;
    let (cpu, is_runnable) = (stat.cpu()?, stat.state()? == 'R');
    if !is_runnable && !whole.contains(&cpu) {
        return None;
    }
    let comm = String::from_utf8_lossy(stat.comm()).into_owned();
    Some(LookedThread {
        thread: WatchedThread {
            name: ThreadName { pid, tid, comm },
            started: stat.started()?,
            policy: stat.policy(),
            priority: stat.priority()?,
        },
        cpu,
        is_runnable,
        cpu_time: RunTime::read(tree, pid.0, tid).value.ok()?.cpu_time,
        cpu_ticks: stat.cpu_ticks()?,
    })
}

/// The state of a thread by its file, if it is still the same; `None`: it has ended.
pub(super) fn state(thread: &WatchedThread) -> Option<char> {
    let text = stat(thread.name.pid, thread.name.tid)?;
    let stat = ThreadStat::parse(&text)?;
    stat.state().filter(|state| stat.started() == Some(thread.started) && !matches!(state, 'Z' | 'X'))
}

/// For how long a thread has run.
pub(super) fn cpu_time(thread: &WatchedThread) -> Option<Ns> {
    RunTime::read(&FsRoot::live(), thread.name.pid.0, thread.name.tid).value.ok().map(|time| time.cpu_time)
}

fn stat(pid: Tid, tid: Tid) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/task/{tid}/stat")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_has_the_thread_that_looks() {
        let own = whylate_sys::gettid();
        // The sum of a thread that has never left its CPU is as old as the last tick.
        std::thread::sleep(std::time::Duration::from_millis(1));
        let look = Look::take(&BTreeSet::new());
        let found = look.threads.iter().find(|looked| looked.thread.name.tid == own).expect("it runs");
        assert!(found.is_runnable && found.cpu_time > Ns::ZERO && look.all > look.threads.len());
        assert_eq!(state(&found.thread), Some('R'));
        assert!(cpu_time(&found.thread).is_some_and(|time| time >= found.cpu_time));
        let other = WatchedThread { started: 1, ..found.thread.clone() };
        assert_eq!(state(&other), None, "another thread of the same id");
    }

    #[test]
    fn sleeping_threads_are_those_of_the_asked_cpus() {
        let cpus: BTreeSet<Cpu> = (0..8192).map(Cpu).collect();
        let look = Look::take(&cpus);
        assert!(look.threads.iter().any(|looked| !looked.is_runnable));
        assert!(Look::take(&BTreeSet::new()).threads.iter().all(|looked| looked.is_runnable));
    }
}
