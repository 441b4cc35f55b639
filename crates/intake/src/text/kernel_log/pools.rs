//! What the watchdog of workqueues reports (`wq_watchdog_timer_fn()` and `pr_cont_pool_info()` in `kernel/workqueue.c`).
//!
//! ```text
//! BUG: workqueue lockup - pool cpus=4 node=0 flags=0x0 nice=0 stuck for 30s!
//! BUG: workqueue lockup - pool cpus=0-7 flags=0x4 nice=-20 stuck for 66s!
//! ```

use super::begun_work::BegunWork;
use super::pool_name::PoolName;
use super::stamps::number_behind;
use std::collections::BTreeSet;

/// `WQ_UNBOUND` in `include/linux/workqueue.h`
const WQ_UNBOUND: u64 = 1 << 1;
/// More worker pools are not kept.
const MOST: usize = 64;
/// More of them are not named.
const MOST_NAMED: usize = 8;

/// A pool of workers that began no work item for long, though some were pending.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StuckPool {
    name: PoolName,
    seconds: u64,
}

/// The worker pools that a log reports, each once with its longest time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StuckPools {
    pools: Vec<StuckPool>,
    begun: BegunWork,
    /// The work items that follow are of a workqueue whose workers are each bound to a CPU.
    is_bound: bool,
    /// CPUs whose pools have such work items and no worker that is bound: they are offline.
    offline: BTreeSet<u32>,
}

impl StuckPools {
    /// Takes in a line; false where it is no such report.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let Some(pool) = pool(message) else { return false };
        let has_room = self.pools.len() < MOST;
        match self.pools.iter_mut().find(|other| other.name == pool.name) {
            Some(other) => other.seconds = other.seconds.max(pool.seconds),
            None if has_room => self.pools.push(pool),
            None => {}
        }
        true
    }

    /// True of a CPU on which the workers of one of them run.
    pub(super) fn run_on(&self, cpu: u32) -> bool {
        let has = |pool: &StuckPool| pool.name.has_cpu(cpu);
        self.pools.iter().any(has)
    }

    /// Takes in a line that may show the work that had begun.
    pub(super) fn work_line(&mut self, message: &str) {
        if let Some((_, flags)) =
            message.split_once("workqueue ").and_then(|(_, rest)| rest.split_once(": flags=0x"))
        {
            let flags = u64::from_str_radix(flags.trim(), 16).ok();
            self.is_bound = flags.is_some_and(|flags| flags & WQ_UNBOUND == 0);
        } else if let Some((_, pool)) = message.split_once("pwq ").filter(|_| self.is_bound) {
            let cpu = PoolName::of(pool).and_then(|pool| pool.cpu_without_workers());
            self.offline.extend(cpu.filter(|_| self.offline.len() < MOST));
        }
        self.begun.line(message);
    }

    /// The work that had begun in them.
    pub(super) fn begun_work(&self) -> Option<String> {
        self.begun.shown(|name| self.pools.iter().any(|pool| pool.name.may_be(name)))
    }

    fn named(&self, pool: &StuckPool) -> String {
        match pool.name.cpu_without_workers().filter(|cpu| self.offline.contains(cpu)) {
            Some(cpu) => format!("the offline CPU {cpu}"),
            None => pool.name.to_string(),
        }
    }

    /// What it means; `None` where no time is given. The pool that waited longest comes first.
    pub(super) fn meaning(&self) -> Option<String> {
        let mut pools: Vec<&StuckPool> = self.pools.iter().collect();
        pools.sort_by_key(|pool| std::cmp::Reverse(pool.seconds));
        let [longest, others @ ..] = pools.as_slice() else { return None };
        let mut text = format!(
            "the work items of the worker pool of {} did not come to run for {} s",
            self.named(longest),
            longest.seconds
        );
        for other in others.iter().take(MOST_NAMED - 1) {
            text.push_str(&format!(", and those of {} for {} s", self.named(other), other.seconds));
        }
        match others.len().saturating_sub(MOST_NAMED - 1) {
            0 => {}
            1 => text.push_str(", and those of 1 more pool"),
            more => text.push_str(&format!(", and those of {more} more pools")),
        }
        Some(text)
    }
}

fn pool(message: &str) -> Option<StuckPool> {
    // Of two reports that a page put together the second one is whole.
    let (_, report) = message.rsplit_once("workqueue lockup - pool")?;
    let (pool, time) = report.split_once("stuck for ")?;
    Some(StuckPool {
        name: PoolName::of(pool)?,
        seconds: number_behind(time, "").filter(|_| time.contains('s'))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pool_has_its_longest_time() {
        let mut pools = StuckPools::default();
        assert_eq!(pools.meaning(), None);
        assert!(!pools.line("BUG: workqueue lockup - pool cpus=4 node=0 flags=0x0 nice=0 stuck"));
        assert!(!pools.line("BUG: workqueue lockup - pool cpus=x nice=0 stuck for 30s!"));
        assert!(pools.line("BUG: workqueue lockup - pool cpus=4 node=0 flags=0x0 nice=0 stuck for 30s!"));
        assert!(pools.line("BUG: workqueue lockup - pool cpus=4 node=0 flags=0x0 nice=0 stuck for 61s!"));
        let one = "the work items of the worker pool of CPU 4 did not come to run for 61 s";
        assert_eq!(pools.meaning().as_deref(), Some(one));
        assert!(pools.line("BUG: workqueue lockup - pool cpus=4 node=0 flags=0x0 nice=-20 stuck for 30s!"));
        assert_eq!(pools.meaning(), Some(format!("{one}, and those of CPU 4 (nice -20) for 30 s")));
        assert!(pools.line("BUG: workqueue lockup - pool cpus=0-3,8 flags=0x4 nice=0 stuck for 90s!"));
        let run_on: Vec<u32> = (0..10).filter(|&cpu| pools.run_on(cpu)).collect();
        assert_eq!(run_on, [0, 1, 2, 3, 4, 8]);
        let longest = "the work items of the worker pool of CPUs 0-3,8 did not come to run for 90 s, and those of CPU 4 for 61 s";
        assert!(pools.meaning().is_some_and(|text| text.starts_with(longest)));
    }

    #[test]
    fn a_pool_of_unbound_workers_is_not_that_of_its_only_cpu() {
        let mut pools = StuckPools::default();
        assert!(pools.line("BUG: workqueue lockup - pool cpus=0 flags=0x4 nice=0 stuck for 66s!"));
        assert!(pools.line("BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!"));
        let two = "the work items of the worker pool of unbound workers (CPU 0) did not come to run for 66 s, and those of CPU 0 for 30 s";
        assert_eq!(pools.meaning().as_deref(), Some(two));
    }

    #[test]
    fn a_pool_without_bound_workers_is_that_of_an_offline_cpu_where_its_workqueue_is_bound() {
        let of = |flags: &str| {
            let mut pools = StuckPools::default();
            assert!(pools.line("BUG: workqueue lockup - pool cpus=9 node=0 flags=0x4 nice=0 stuck for 66s!"));
            pools.work_line(&format!("workqueue acme: flags={flags}"));
            pools.work_line("  pwq 6: cpus=9 node=0 flags=0x4 nice=0 active=2/256 refcnt=3");
            pools.meaning().unwrap_or_default()
        };
        assert!(of("0x108").contains("the worker pool of the offline CPU 9 did not"), "{}", of("0x108"));
        assert!(of("0xa").contains("unbound workers (CPU 9)"), "{}", of("0xa"));
    }

    #[test]
    fn a_time_is_of_the_pool_before_it_and_many_pools_are_counted() {
        let mut pools = StuckPools::default();
        let two = "BUG: workqueue lockup - pool cpus=4 nice=0 stuck BUG: workqueue lockup - pool cpus=7 nice=0 stuck for 49s!";
        assert!(pools.line(two));
        let one = "the work items of the worker pool of CPU 7 did not come to run for 49 s";
        assert_eq!(pools.meaning().as_deref(), Some(one));
        for cpu in 20..30 {
            pools.line(&format!("BUG: workqueue lockup - pool cpus={cpu} nice=0 stuck for 30s!"));
        }
        assert!(pools.meaning().is_some_and(|text| text.ends_with(", and those of 3 more pools")));
    }
}
