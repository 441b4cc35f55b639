//! What ran on a CPU while a thread waited for it.

use super::look::{Look, LookedThread, ThreadKey, WatchedThread};
use std::collections::{BTreeSet, HashMap};
use whylate_base::{Cpu, Ns};

/// Below this share of a CPU a thread is not named: then others, interrupts or the hypervisor had most of it.
const NAMED: f64 = 0.2;

/// The thread that had the CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuHog {
    /// It.
    pub thread: WatchedThread,
    /// Its share of the CPU, 0 to 1.
    pub share: f64,
}

/// For how long the threads of some CPUs had run at a time.
#[derive(Debug, Default)]
pub(super) struct CpuSums {
    cpus: HashMap<Cpu, (Ns, HashMap<ThreadKey, Ns>)>,
}

impl CpuSums {
    /// From this look on the time of these CPUs' threads is counted; other CPUs are forgotten. The look must have all threads
    /// of these CPUs: one that it lacks would count from its beginning.
    pub(super) fn follow(&mut self, look: &Look, cpus: &BTreeSet<Cpu>) {
        self.cpus.retain(|cpu, _| cpus.contains(cpu));
        for &cpu in cpus {
            self.cpus.entry(cpu).or_insert_with(|| (look.at, sums(look, cpu)));
        }
    }

    /// Whether the time of a CPU was counted before this look.
    pub(super) fn has_window(&self, look: &Look, cpu: Cpu) -> bool {
        self.cpus.get(&cpu).is_some_and(|(since, _)| *since < look.at)
    }

    /// The thread that had most of the time of the starving thread's CPU, if it may run before that one.
    pub(super) fn culprit(&self, look: &Look, cpu: Cpu, starving: &WatchedThread) -> Option<CpuHog> {
        let (since, before) = self.cpus.get(&cpu)?;
        let passed = look.at.since(*since);
        // A thread that came later from another CPU ran there: how much of its time was here is not known.
        let ran = |looked: &LookedThread| Some(looked.cpu_time.since(*before.get(&looked.thread.key())?));
        let others =
            look.threads.iter().filter(|looked| looked.cpu == cpu && looked.thread.key() != starving.key());
        let (most, ran) =
            others.filter_map(|looked| Some((&looked.thread, ran(looked)?))).max_by_key(|(_, ran)| *ran)?;
        let share = ran.0 as f64 / passed.0.max(1) as f64;
        let is_named = share >= NAMED && !starving.outranks(most);
        // Sums are as new as the last tick, so that they may be a little more than the time that passed.
        is_named.then(|| CpuHog { thread: most.clone(), share: share.min(1.0) })
    }
}

fn sums(look: &Look, cpu: Cpu) -> HashMap<ThreadKey, Ns> {
    let there = look.threads.iter().filter(|looked| looked.cpu == cpu);
    there.map(|looked| (looked.thread.key(), looked.cpu_time)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::waiting::tests::{look, looked};
    use super::*;
    use whylate_base::Policy;

    fn culprit(starving: (Policy, u32), hog: (Policy, u32), ran: i64) -> Option<f64> {
        let mut sums = CpuSums::default();
        let starving = looked(1, starving.0, starving.1, 5);
        let hog = |time| looked(2, hog.0, hog.1, time);
        let cpus = BTreeSet::from([Cpu(1)]);
        sums.follow(&look(0, vec![starving.clone(), hog(1_000)]), &cpus);
        let end = look(1_000, vec![starving.clone(), hog(1_000 + ran)]);
        sums.follow(&end, &cpus);
        sums.culprit(&end, Cpu(1), &starving.thread).map(|culprit| culprit.share)
    }

    #[test]
    fn only_what_had_the_cpu_and_may_run_first_is_named() {
        use Policy::{Fifo, Other};
        assert_eq!(culprit((Other, 0), (Fifo, 50), 990), Some(0.99));
        assert_eq!(culprit((Fifo, 50), (Fifo, 50), 990), Some(0.99), "the same priority");
        assert_eq!(culprit((Fifo, 51), (Fifo, 50), 990), None);
        assert_eq!(culprit((Fifo, 1), (Other, 0), 990), None, "the CPU was taken away otherwise");
        assert_eq!(culprit((Other, 0), (Fifo, 50), 100), None);
        assert_eq!(culprit((Other, 0), (Fifo, 50), 1_004), Some(1.0));
    }

    #[test]
    fn a_thread_that_came_from_another_cpu_is_not_charged_with_its_time_there() {
        let mut sums = CpuSums::default();
        let starving = looked(1, Policy::Other, 0, 0);
        let hog = |time| looked(2, Policy::Fifo, 50, time);
        sums.follow(&look(0, vec![starving.clone(), hog(0)]), &BTreeSet::from([Cpu(1)]));
        let end = look(1_000, vec![starving.clone(), hog(900), looked(3, Policy::Other, 0, 1_000_000)]);
        let culprit = sums.culprit(&end, Cpu(1), &starving.thread).expect("the hog");
        assert_eq!(culprit.thread.name.tid.0, 2);
    }

    #[test]
    fn a_cpu_that_is_not_followed_has_no_culprit() {
        let mut sums = CpuSums::default();
        let threads = look(0, vec![looked(1, Policy::Other, 0, 0)]);
        let starving = looked(9, Policy::Other, 0, 0).thread;
        assert_eq!(sums.culprit(&threads, Cpu(1), &starving), None);
        sums.follow(&threads, &BTreeSet::from([Cpu(1)]));
        assert!(!sums.has_window(&threads, Cpu(1)));
        let later = look(100, vec![looked(1, Policy::Other, 0, 100)]);
        assert!(sums.has_window(&later, Cpu(1)));
        assert!(sums.culprit(&later, Cpu(1), &starving).is_some());
        sums.follow(&later, &BTreeSet::new());
        assert_eq!(sums.culprit(&later, Cpu(1), &starving), None);
    }
}
