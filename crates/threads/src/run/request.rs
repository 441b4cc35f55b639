//! What a program or a thread is to become.

use whylate_base::{CpuSet, Ns};
use whylate_sys::SchedParams;

/// What is asked for. What is `None` stays as it is inherited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunRequest {
    /// Policy and priority.
    pub scheduling: Option<SchedParams>,
    /// The CPUs it may use.
    pub cpus: Option<CpuSet>,
    /// How much the kernel may delay its timers; zero: the default of 50 us.
    pub timer_slack: Option<Ns>,
    /// Also what may starve the machine.
    pub force: bool,
}
