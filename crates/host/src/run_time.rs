//! For how long a thread ran and waited for a CPU, by the scheduler's own sums.

use crate::{FsRoot, Reading, Why};
use whylate_base::{Ns, Tid};

/// `/proc/PID/task/TID/schedstat` (Documentation/scheduler/sched-stats.rst). The first sum is `sum_exec_runtime`, which the
/// scheduler's clock measures at each switch; utime and stime of proc_pid_stat(5) may be samples at the tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTime {
    /// The time on a CPU.
    pub cpu_time: Ns,
    /// The time on a runqueue, waiting.
    pub run_delay: Ns,
}

impl RunTime {
    /// Reads it; `Missing` in a kernel without CONFIG_SCHED_INFO, and of a thread that ended.
    pub fn read(tree: &FsRoot, pid: i32, tid: Tid) -> Reading<RunTime> {
        tree.text(&format!("/proc/{pid}/task/{tid}/schedstat")).and_then(|text| {
            parse(text).ok_or_else(|| Why::Malformed { expected: "two times and a count".to_owned() })
        })
    }
}

fn parse(text: &str) -> Option<RunTime> {
    let mut sums = text.split_ascii_whitespace().map(|sum| sum.parse().ok().map(Ns));
    Some(RunTime { cpu_time: sums.next()??, run_delay: sums.next()?? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_sums_are_times() {
        let read =
            |text| RunTime::read(&FsRoot::memory(&[("/proc/1/task/2/schedstat", text)]), 1, Tid(2)).value;
        assert_eq!(read("100 200 3\n"), Ok(RunTime { cpu_time: Ns(100), run_delay: Ns(200) }));
        assert!(matches!(read("100\n"), Err(Why::Malformed { .. })));
        assert!(matches!(read("a b c\n"), Err(Why::Malformed { .. })));
    }
}
