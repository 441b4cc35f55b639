//! A thread in the report.

use super::waits::BlockedOn;
use crate::rank::rank;
use whylate_base::{Cpu, CpuSet, Ns, Policy, Tid};
use whylate_host::ThreadUsage;

/// A thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadRow {
    /// Its id.
    pub tid: Tid,
    /// Its process.
    pub pid: i32,
    /// Its name.
    pub comm: String,
    /// Whether it is the kernel's own.
    pub kernel: bool,
    /// Its policy; `None`: one that whylate does not know.
    pub policy: Option<Policy>,
    /// Its real-time priority, 1 to 99, as chrt(1) shows it; 0 for other policies.
    pub priority: u32,
    /// Its nice value.
    pub nice: i32,
    /// Its state: `R` running or runnable, `S` asleep, `D` asleep without signals, and others.
    pub state: Option<char>,
    /// The CPUs it may use.
    pub cpus: Option<CpuSet>,
    /// The CPU it was on last.
    pub last_cpu: Option<Cpu>,
    /// For how long it is there; `None` of another machine.
    pub age: Option<Ns>,
    /// What it did since it started.
    pub usage: ThreadUsage,
    /// Its time on a CPU since it started.
    pub cpu_time: Option<Ns>,
    /// Its time on a runqueue, waiting, since it started.
    pub run_delay: Option<Ns>,
    /// The same between the samples.
    pub rates: Option<Scheduling>,
    /// Its control group (v2), or the first one (v1).
    pub cgroup: Option<String>,
    /// What it is blocked on.
    pub blocked_on: Option<BlockedOn>,
    /// What is unusual about it.
    pub odd: Vec<Oddity>,
}

/// What a thread did between two samples. A value is `None` where one of the samples lacks it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheduling {
    /// The share of one CPU that it had, 0 to 1.
    pub cpu_share: Option<f64>,
    /// The share of the time that it waited on a runqueue, 0 to 1.
    pub waiting_share: Option<f64>,
    /// Times that it gave up the CPU, in a second.
    pub voluntary: Option<f64>,
    /// Times that it was preempted, in a second.
    pub involuntary: Option<f64>,
    /// Page faults, minor and major, in a second.
    pub faults: Option<f64>,
}

impl ThreadRow {
    /// True for SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
    pub fn is_realtime(&self) -> bool {
        self.policy.is_some_and(Policy::is_realtime)
    }

    /// Whether it runs before a thread of this policy and priority on the same CPU.
    pub(super) fn outranks(&self, policy: Option<Policy>, priority: u32) -> bool {
        rank(self.policy, self.priority) < rank(policy, priority)
    }
}

/// Something that is rarely intended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oddity {
    /// Stable kebab-case code.
    pub code: &'static str,
    /// One sentence.
    pub text: String,
}
