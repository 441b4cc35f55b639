//! The scheduler's settings, and those of the watchdogs that watch it.

use crate::table::readings;
use crate::{FsRoot, Reading, Why, Words};
use whylate_base::{Cpu, CpuSet};

/// The scheduler's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Sched {
    /// `kernel.sched_rt_runtime_us`, microseconds; -1: no limit.
    pub rt_runtime_us: Reading<i64>,
    /// `kernel.sched_rt_period_us`, microseconds.
    pub rt_period_us: Reading<i64>,
    /// `kernel.sched_rr_timeslice_ms`, milliseconds.
    pub rr_timeslice_ms: Reading<i64>,
    /// `kernel.sched_autogroup_enabled`.
    pub autogroup: Reading<bool>,
    /// `kernel.timer_migration`: whether timers of idle CPUs move to busy ones.
    pub timer_migration: Reading<bool>,
    /// `kernel.sched_schedstats`.
    pub schedstats: Reading<bool>,
    /// `kernel.sched_energy_aware`.
    pub energy_aware: Reading<bool>,
    /// `kernel.sched_util_clamp_min_rt_default` (5.9): the least utilisation, of 1024, that real-time threads are
    /// taken to have when the frequency is chosen.
    pub uclamp_rt_min: Reading<u64>,
    /// `/sys/kernel/debug/sched/features`; a feature that is off has `NO_` before it.
    pub features: Reading<Words>,
    /// The fair server of each CPU (6.12).
    pub fair_servers: Reading<Vec<Server>>,
    /// The ext server of each CPU (7.x).
    pub ext_servers: Reading<Vec<Server>>,
    /// The CPUs that unbound workqueues may use.
    pub workqueue_cpus: Reading<crate::Mask>,
    /// The state of sched_ext: `enabled` while a BPF scheduler is loaded (6.12).
    pub ext_state: Reading<String>,
    /// Lockups, hung tasks, audit of the kernel's own time.
    pub watchdogs: Watchdogs,
}

/// The deadline server of a CPU, for threads that real-time ones would leave nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The CPU.
    pub cpu: Cpu,
    /// Nanoseconds of each period; 0: off.
    pub runtime_ns: Reading<u64>,
    /// The period, nanoseconds.
    pub period_ns: Reading<u64>,
}

readings! {
    /// The kernel's watchdogs, in `/proc/sys/kernel` (Documentation/admin-guide/lockup-watchdogs.rst).
    pub struct Watchdogs {
        /// The hard lockup detector: a perf counter, which fires NMIs.
        pub nmi_watchdog: bool = "nmi_watchdog",
        /// The soft lockup detector: a timer and a thread of the stop class on each CPU.
        pub soft_watchdog: bool = "soft_watchdog",
        /// Both at once.
        pub watchdog: bool = "watchdog",
        /// The CPUs they watch.
        pub watchdog_cpumask: CpuSet = "watchdog_cpumask",
        /// Seconds until a lockup is reported.
        pub watchdog_thresh: u64 = "watchdog_thresh",
        /// Seconds until a blocked task is reported; 0: never.
        pub hung_task_timeout_secs: u64 = "hung_task_timeout_secs",
        /// Whether the machine panics at a hung task; in new kernels, at how many.
        pub hung_task_panic: u64 = "hung_task_panic",
        /// Whether the machine panics when a CPU holds RCU up.
        pub panic_on_rcu_stall: u64 = "panic_on_rcu_stall",
        /// The most of the CPU, per cent, that perf's interrupts may take.
        pub perf_cpu_time_max_percent: u64 = "perf_cpu_time_max_percent",
        /// What printk writes to the console: the first number is the level.
        pub printk: Words = "printk",
        /// `kernel.numa_balancing`: 0 off, 1 NUMA, 2 tiering.
        pub numa_balancing: u64 = "numa_balancing",
    }
}

impl Sched {
    pub(crate) fn read(tree: &FsRoot) -> Sched {
        Sched {
            rt_runtime_us: tree.value("/proc/sys/kernel/sched_rt_runtime_us"),
            rt_period_us: tree.value("/proc/sys/kernel/sched_rt_period_us"),
            rr_timeslice_ms: tree.value("/proc/sys/kernel/sched_rr_timeslice_ms"),
            autogroup: tree.value("/proc/sys/kernel/sched_autogroup_enabled"),
            timer_migration: tree.value("/proc/sys/kernel/timer_migration"),
            schedstats: tree.value("/proc/sys/kernel/sched_schedstats"),
            energy_aware: tree.value("/proc/sys/kernel/sched_energy_aware"),
            uclamp_rt_min: tree.value("/proc/sys/kernel/sched_util_clamp_min_rt_default"),
            features: features(tree),
            fair_servers: servers(tree, "/sys/kernel/debug/sched/fair_server"),
            ext_servers: servers(tree, "/sys/kernel/debug/sched/ext_server"),
            workqueue_cpus: tree.value("/sys/devices/virtual/workqueue/cpumask"),
            ext_state: tree.value("/sys/kernel/sched_ext/state"),
            watchdogs: Watchdogs::read(tree, "/proc/sys/kernel"),
        }
    }
}

/// Before 5.13 the file was elsewhere.
fn features(tree: &FsRoot) -> Reading<Words> {
    let features = tree.value("/sys/kernel/debug/sched/features");
    match features.value {
        Err(Why::Missing) => tree.value("/sys/kernel/debug/sched_features"),
        _ => features,
    }
}

fn servers(tree: &FsRoot, dir: &str) -> Reading<Vec<Server>> {
    tree.list(dir).and_then(|names| {
        let cpus = names.iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok().map(Cpu));
        let mut servers: Vec<Server> = cpus
            .map(|cpu| Server {
                cpu,
                runtime_ns: tree.value(&format!("{dir}/cpu{cpu}/runtime")),
                period_ns: tree.value(&format!("{dir}/cpu{cpu}/period")),
            })
            .collect();
        servers.sort_by_key(|server| server.cpu);
        Ok(servers)
    })
}
