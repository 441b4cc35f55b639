//! What a program or a thread is to become.

use super::limit::LimitChange;
use super::setting::ThreadRule;
use whylate_base::{CpuSet, Ns};
use whylate_sys::SchedParams;

/// What is asked for. What is `None` stays as it is inherited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunRequest {
    /// Resource limits, set before everything else.
    pub limits: Vec<LimitChange>,
    /// The control group that the program joins; made where there is none of the name, and then removed.
    pub cgroup: Option<String>,
    /// CPUs of a cpuset partition that the program has alone.
    pub isolated: Option<CpuSet>,
    /// Policy and priority.
    pub scheduling: Option<SchedParams>,
    /// The CPUs it may use.
    pub cpus: Option<CpuSet>,
    /// How much the kernel may delay its timers; zero: the default of 50 us.
    pub timer_slack: Option<Ns>,
    /// The NUMA nodes its memory comes from; empty: any.
    pub memory_nodes: Vec<u32>,
    /// Whether its memory is locked: only a program itself can do that.
    pub lock_memory: bool,
    /// Bytes of its stack that are touched first: only a program itself can do that.
    pub stack_prefault: Option<u64>,
    /// The user that the program runs as.
    pub user: Option<String>,
    /// The wake-up latency of idle CPUs that is requested while it runs, in microseconds.
    pub dma_latency_us: Option<i32>,
    /// What the interrupts of a device, and their threads, get while it runs.
    pub irqs: Vec<ThreadRule>,
    /// What threads of the program get as they appear.
    pub new_threads: Vec<ThreadRule>,
    /// Also what may starve the machine.
    pub force: bool,
    /// Whether a program that this one is the parent of reports what it becomes.
    pub verbose: bool,
}

impl RunRequest {
    /// Whether something is held, watched or restored, so that this process stays as the program's parent.
    pub fn needs_parent(&self) -> bool {
        self.dma_latency_us.is_some()
            || !self.irqs.is_empty()
            || !self.new_threads.is_empty()
            || self.cgroup.is_some()
            || self.isolated.is_some()
    }
}
