//! The state of all threads and interrupts at one time.

use std::collections::HashMap;
use whylate_base::{Ns, Tid};
use whylate_host::{FsRoot, Irqs, Reading, RunTime, Thread, Threads};
use whylate_sys::{Clock, now};

/// What is read of the machine at one time.
#[derive(Debug)]
pub struct PsSample {
    /// CLOCK_MONOTONIC.
    pub(super) at: Ns,
    /// For how long the machine had been running.
    pub(super) uptime: Option<Ns>,
    pub(super) threads: Reading<Vec<Thread>>,
    pub(super) run_times: HashMap<Tid, RunTime>,
    pub(super) irqs: Irqs,
    pub(super) page_faults: Reading<PageFaultSums>,
}

/// The machine's page faults since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageFaultSums {
    /// `pgfault`: all of them.
    pub(super) all: u64,
    /// `pgmajfault`: those that read from a device.
    pub(super) major: u64,
}

impl PsSample {
    /// Reads all threads and interrupts.
    pub fn read(tree: &FsRoot) -> PsSample {
        PsSample::complete(tree, Threads::list(tree), Irqs::read(tree))
    }

    /// Adds what only `ps` reads to the threads and interrupts of a snapshot.
    pub fn complete(tree: &FsRoot, threads: Reading<Vec<Thread>>, irqs: Irqs) -> PsSample {
        let each = threads.known().into_iter().flatten();
        let run_times = each
            .filter_map(|thread| {
                RunTime::read(tree, thread.pid, thread.tid).value.ok().map(|time| (thread.tid, time))
            })
            .collect();
        let page_faults = tree.text("/proc/vmstat").and_then(|text| {
            let sum = |name: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
                line.and_then(|sum| sum.trim().parse().ok()).ok_or(whylate_host::Why::Missing)
            };
            Ok(PageFaultSums { all: sum("pgfault")?, major: sum("pgmajfault")? })
        });
        // Seconds with two decimals (proc_uptime(5)).
        let uptime = tree.text("/proc/uptime").value.ok().and_then(|text| {
            text.split_ascii_whitespace()
                .next()?
                .parse::<f64>()
                .ok()
                .map(|seconds| Ns((seconds * 1e9) as i64))
        });
        PsSample { uptime, at: now(Clock::Monotonic), threads, run_times, irqs, page_faults }
    }
}

/// Counts in a second, by two samples of a sum. `None` where the sum went back: its counter belongs to another thing.
pub(super) fn per_second(before: u64, after: u64, interval: Ns) -> Option<f64> {
    let count = after.checked_sub(before)?;
    (interval > Ns::ZERO).then(|| count as f64 / (interval.0 as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_of_the_time_between_the_samples() {
        assert_eq!(per_second(10, 30, Ns::from_ms(500)), Some(40.0));
        assert_eq!(per_second(30, 10, Ns::from_ms(500)), None);
        assert_eq!(per_second(10, 30, Ns::ZERO), None);
    }

    #[test]
    fn the_machines_page_faults_are_read_by_name() {
        let tree = FsRoot::memory(&[("/proc/vmstat", "pgfault_x 1\npgfault 100\npgmajfault 3\n")]);
        let sample = PsSample::read(&tree);
        assert_eq!(sample.page_faults.value, Ok(PageFaultSums { all: 100, major: 3 }));
        let tree = FsRoot::memory(&[("/proc/vmstat", "nr_free 1\n")]);
        assert!(PsSample::read(&tree).page_faults.value.is_err());
    }
}
