//! Helpers of several rules.

pub(super) mod cpus;
pub(super) mod hardware;
pub(super) mod limits;
pub(super) mod threads;

use crate::CannotTell;
use whylate_base::CpuSet;
use whylate_host::{KernelVersion, Snapshot};

/// Whether RT bandwidth control can stop real-time threads on this kernel, whatever its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Throttle {
    /// Before 5.10: a CPU may borrow what others leave (RT_RUNTIME_SHARE).
    Borrowing,
    /// 5.10 to 6.11, and later with RT_GROUP_SCHED built in: at the limit real-time threads stop.
    Hard,
    /// From 6.12 without RT_GROUP_SCHED: there is none.
    None,
}

/// The throttle of this kernel.
pub(super) fn throttle(host: &Snapshot) -> Result<Throttle, CannotTell> {
    let version = host.kernel.numbers()?;
    if version < KernelVersion::new(5, 10) {
        return Ok(Throttle::Borrowing);
    }
    if version < KernelVersion::new(6, 12) {
        return Ok(Throttle::Hard);
    }
    // Where the groups are switched off at boot the runqueue of each CPU keeps the limit of the whole machine
    // (commit a5a25b32c08a, which came with the switch).
    match host.kernel.config.need()?.has("RT_GROUP_SCHED") {
        true => Ok(Throttle::Hard),
        false => Ok(Throttle::None),
    }
}

/// Whether real-time threads are scheduled by control groups: built in, and not switched off at boot.
pub(super) fn rt_groups(host: &Snapshot) -> Result<bool, CannotTell> {
    Ok(host.kernel.rt_group_sched()?)
}

/// Whether the kernel has deadline servers for starving threads.
pub(super) fn has_servers(host: &Snapshot) -> Result<bool, CannotTell> {
    // A distribution may have taken them into an older kernel.
    let seen = host.sched.fair_servers.known().is_some_and(|servers| !servers.is_empty());
    Ok(seen || host.kernel.numbers()? >= KernelVersion::new(6, 12))
}

/// The CPUs that both sets have.
pub(super) fn common(a: &CpuSet, b: &CpuSet) -> CpuSet {
    a.iter().filter(|&cpu| b.contains(cpu)).collect()
}
