//! Which runnable threads have not run since when.

use super::look::{Look, LookedThread, ThreadKey};
use std::collections::{BTreeSet, HashMap};
use whylate_base::{Cpu, Ns};

/// The threads that were runnable at every look since one, and did not run.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    threads: HashMap<ThreadKey, Wait>,
}

/// How a thread waits.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    pub(super) looked: LookedThread,
    /// The first look at which it was runnable; it may have been so before.
    pub(super) since: Ns,
    /// Whether it was reported.
    pub(super) is_reported: bool,
    /// Whether it was reported that it is not helped.
    pub(super) is_refused: bool,
    /// How often its control groups had used up their quotas, when this was first asked.
    pub(super) quota_stops: Option<u64>,
}

impl Waiting {
    /// Takes a look in: threads that ran, sleep or have ended wait no more.
    pub(super) fn update(&mut self, look: &Look) {
        let mut before = std::mem::take(&mut self.threads);
        for looked in look.threads.iter().filter(|looked| looked.is_runnable) {
            let key = looked.thread.key();
            let wait = match before.remove(&key) {
                Some(wait) if !has_run(&wait.looked, looked) => Wait { looked: looked.clone(), ..wait },
                _ => Wait {
                    looked: looked.clone(),
                    since: look.at,
                    is_reported: false,
                    is_refused: false,
                    quota_stops: None,
                },
            };
            self.threads.insert(key, wait);
        }
    }

    /// The longest waits first.
    pub(super) fn longest_first(&mut self) -> Vec<&mut Wait> {
        let mut waits: Vec<&mut Wait> = self.threads.values_mut().collect();
        waits.sort_by_key(|wait| (wait.since, wait.looked.thread.key()));
        waits
    }

    /// How a thread waits.
    pub(super) fn of(&mut self, key: ThreadKey) -> Option<&mut Wait> {
        self.threads.get_mut(&key)
    }

    /// A thread waits from the beginning again.
    pub(super) fn forget(&mut self, key: ThreadKey) {
        self.threads.remove(&key);
    }

    /// The CPUs on which a thread is `suspected`.
    pub(super) fn cpus(&self, suspected: impl Fn(&Wait) -> bool) -> BTreeSet<Cpu> {
        self.threads.values().filter(|wait| suspected(wait)).map(|wait| wait.looked.cpu).collect()
    }
}

/// Whether a thread ran from one look to the next.
fn has_run(before: &LookedThread, after: &LookedThread) -> bool {
    (before.cpu_time, before.cpu_ticks) != (after.cpu_time, after.cpu_ticks)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::guard::WatchedThread;
    use crate::select::ThreadName;
    use whylate_base::{Policy, Tid};

    pub(in crate::guard) fn looked(tid: i32, policy: Policy, priority: u32, cpu_time: i64) -> LookedThread {
        let name = ThreadName { pid: Tid(tid), tid: Tid(tid), comm: format!("thread-{tid}") };
        let thread = WatchedThread { name, started: 1, policy: Some(policy), priority };
        LookedThread { thread, cpu: Cpu(1), is_runnable: true, cpu_time: Ns(cpu_time), cpu_ticks: 0 }
    }

    pub(in crate::guard) fn look(at: i64, threads: Vec<LookedThread>) -> Look {
        Look { at: Ns(at), all: threads.len(), threads }
    }

    #[test]
    fn only_a_thread_that_did_not_run_at_all_waits() {
        let mut waiting = Waiting::default();
        let other = |tid, time| looked(tid, Policy::Other, 0, time);
        waiting.update(&look(10, vec![other(1, 5), other(2, 7), other(3, 9)]));
        let asleep = LookedThread { is_runnable: false, ..other(3, 9) };
        waiting.update(&look(20, vec![other(1, 5), other(2, 8), asleep]));
        let reuse = |mut thread: LookedThread| {
            thread.thread.started = 2;
            thread
        };
        waiting.update(&look(30, vec![other(1, 5), reuse(other(2, 8)), other(3, 9)]));
        let since: Vec<_> = waiting
            .longest_first()
            .iter()
            .map(|wait| (wait.looked.thread.name.tid.0, wait.since.0))
            .collect();
        assert_eq!(since, [(1, 10), (2, 30), (3, 30)]);
        assert_eq!(waiting.cpus(|wait| wait.since == Ns(10)), BTreeSet::from([Cpu(1)]));
        assert_eq!(waiting.cpus(|_| false), BTreeSet::new());
        // On a CPU without ticks the sum may stand still while the thread runs.
        let ticked = LookedThread { cpu_ticks: 1, ..other(1, 5) };
        waiting.update(&look(40, vec![ticked.clone(), other(3, 9)]));
        waiting.update(&look(50, vec![ticked, other(3, 9)]));
        let since: Vec<_> = waiting.longest_first().iter().map(|wait| wait.since.0).collect();
        assert_eq!(since, [30, 40]);
        waiting.forget((Tid(1), 1));
        assert_eq!(waiting.longest_first().len(), 1);
    }
}
