//! Messages of the kernel's log about what is late: no trace, but each has a meaning.

/// A message in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMessage {
    /// The number of its line.
    pub line: u64,
    /// What it means.
    pub meaning: &'static str,
}

/// What the message in a line of the kernel's log is about; `None` for other lines.
pub(super) fn message(line: &str) -> Option<&'static str> {
    const MESSAGES: [(&[&str], &str); 18] = [
        (&["RT throttling activated"], RT_THROTTLING),
        (&["DL replenish lagged"], DL_REPLENISH),
        (&["soft lockup"], "a thread kept a CPU in the kernel for 20 s or more (soft lockup)"),
        (&["hard LOCKUP"], HARD_LOCKUP),
        (&["blocked for more than"], HUNG_TASK),
        (&["INFO: task ", " blocked"], HUNG_TASK),
        (&["hogged CPU for >"], "a work item of a workqueue ran for long without a sleep"),
        (&["BUG: workqueue lockup"], "the work items of a workqueue did not come to run"),
        (&["detected stall"], RCU),
        (&["kthread starved for", "jiffies"], RCU),
        (&["local_softirq_pending"], NOHZ),
        (&["local softirq work is pending"], NOHZ),
        (&["hrtimer: interrupt took"], "the timer interrupt took long, or the machine stood still in it"),
        (&["interrupt took too long", "perf_event_max_sample_rate"], "the interrupts of perf took long"),
        (&["NMI handler (", "took too long"], "the handler of an NMI took long"),
        (&["timekeeping watchdog"], CLOCK),
        (&["Marking TSC unstable"], CLOCK),
        (&["need_resched set for >"], "a thread did not give its CPU to another one that was to run"),
    ];
    MESSAGES
        .iter()
        .find(|(words, _)| words.iter().all(|word| line.contains(word)))
        .map(|&(_, meaning)| meaning)
}

const RT_THROTTLING: &str = "real-time threads used up their share of a CPU (kernel.sched_rt_runtime_us), and were stopped for \
                             the rest of a period (rt-throttled)";
const DL_REPLENISH: &str =
    "a SCHED_DEADLINE thread, or a deadline server, did not get its runtime for longer than a period";
const HARD_LOCKUP: &str = "a CPU had interrupts disabled for 10 s or more (hard lockup)";
const HUNG_TASK: &str = "a thread slept uninterruptibly for longer than kernel.hung_task_timeout_secs, for a device or a lock (hung task)";
const RCU: &str =
    "a CPU gave RCU no quiescent state for long, or RCU's own threads did not come to run (RCU stall)";
const NOHZ: &str = "softirqs were pending as an idle CPU stopped its tick";
const CLOCK: &str = "the clock was unstable, or the machine stood still, so that it was not read in time";
