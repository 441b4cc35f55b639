//! How and where a thread of a probe runs, and when.

use whylate_base::{Cpu, Ns};
use whylate_sys::SchedParams;

/// How and where a thread runs, and when.
#[derive(Clone, Copy)]
pub(crate) struct ThreadSetup {
    /// The CPU it is bound to; `None`: wherever the process may run.
    pub(crate) cpu: Option<Cpu>,
    pub(crate) sched: SchedParams,
    pub(crate) interval: Ns,
    /// From the common start to this thread's first period, so that not all CPUs wake at once.
    pub(crate) phase: Ns,
}
