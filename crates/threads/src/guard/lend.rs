//! The policy that a starving thread is lent, and its own one again.

use super::cpu_hog::CpuHog;
use super::look::{self, WatchedThread};
use super::options::BoostOptions;
use whylate_base::{Policy, Tid};
use whylate_sys::{DeadlineParams, SchedParams, SysError};

/// The first kernel thread, which never has a time slice of its own (`kthreadd`).
pub(super) const KTHREADD: Tid = Tid(2);

/// What became of a thread that was to be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restored {
    /// It has its own policy.
    Now,
    /// It had its own policy already.
    Already,
    /// Another program, or the thread itself, gave it another one, which stays.
    ChangedMeanwhile,
    /// It has ended.
    Ended,
}

/// A thread's own policy, so that [`restore`] sets it exactly. `None`: it has ended.
pub(super) fn own(thread: &WatchedThread) -> Result<Option<SchedParams>, SysError> {
    let own = match whylate_sys::getattr(thread.name.tid) {
        Err(error) if error.is_no_such_thread() => return Ok(None),
        own => own?,
    };
    // The kernel reports its own slice as if it were the thread's.
    let kernels = whylate_sys::getattr(KTHREADD).ok().and_then(|own| own.slice);
    let own = SchedParams { slice: own.slice.filter(|_| own.slice != kernels), ..own };
    Ok(look::state(thread).map(|_| own))
}

/// The reservation that is lent first. Its children do not inherit it: the kernel refuses fork(2) to SCHED_DEADLINE threads
/// without that (sched(7)).
pub(super) fn deadline(boost: &BoostOptions) -> SchedParams {
    let params = DeadlineParams { runtime: boost.runtime, deadline: boost.period, period: boost.period };
    SchedParams { reset_on_fork: true, ..SchedParams::deadline(params) }
}

/// The highest priority that is lent. A guard to which SCHED_DEADLINE is refused has 99, and so has its watchdog: both must run
/// before what they lend, or they could never end it where they share a CPU with it.
const HIGHEST: u32 = 98;

/// The priority that is lent where SCHED_DEADLINE is refused: above the thread that has the CPU.
///
/// # Errors
/// Why there is none.
pub(super) fn fifo(by: Option<&CpuHog>) -> Result<SchedParams, String> {
    let Some(by) = by else {
        return Err(
            "which thread has its CPU is not known, and so not which priority would be above it".to_owned()
        );
    };
    let priority = match by.thread.policy {
        Some(Policy::Fifo | Policy::Rr) => by.thread.priority + 1,
        Some(Policy::Other | Policy::Batch | Policy::Idle | Policy::Ext) => 1,
        Some(Policy::Deadline) | None => {
            return Err(format!("no SCHED_FIFO priority runs before {}", by.thread));
        }
    };
    match priority {
        1..=HIGHEST => Ok(SchedParams { reset_on_fork: true, ..SchedParams::fifo(priority) }),
        _ => Err(format!("no SCHED_FIFO priority runs before {} and after the guard itself", by.thread)),
    }
}

/// Sets a policy, if it still is the same thread. `Ok(false)`: it has ended.
pub(super) fn set(thread: &WatchedThread, params: &SchedParams) -> Result<bool, SysError> {
    if look::state(thread).is_none() {
        return Ok(false);
    }
    match whylate_sys::setattr(thread.name.tid, params) {
        Err(error) if error.is_no_such_thread() => Ok(false),
        result => result.map(|()| true),
    }
}

/// Sets a thread's own policy, if it has the lent one.
pub(super) fn restore(
    thread: &WatchedThread,
    own: &SchedParams,
    lent: &SchedParams,
) -> Result<Restored, SysError> {
    let now = match whylate_sys::getattr(thread.name.tid) {
        Err(error) if error.is_no_such_thread() => return Ok(Restored::Ended),
        now => now?,
    };
    if look::state(thread).is_none() {
        return Ok(Restored::Ended);
    }
    if !is_same(&now, lent) {
        return Ok(if is_same(&now, own) { Restored::Already } else { Restored::ChangedMeanwhile });
    }
    Ok(if set(thread, own)? { Restored::Now } else { Restored::Ended })
}

/// Whether a thread has these parameters. Values that a policy does not use stay what they were: they do not count.
fn is_same(now: &SchedParams, wanted: &SchedParams) -> bool {
    let uses_nice = matches!(wanted.policy, Policy::Other | Policy::Batch);
    now.policy == wanted.policy
        && now.priority == wanted.priority
        && now.deadline == wanted.deadline
        && now.reset_on_fork == wanted.reset_on_fork
        && (!uses_nice || now.nice == wanted.nice)
}

#[cfg(test)]
mod tests {
    use super::super::waiting::tests::looked;
    use super::*;

    #[test]
    fn the_lent_priority_is_above_the_culprits() {
        let by =
            |policy, priority| Some(CpuHog { thread: looked(1, policy, priority, 0).thread, share: 1.0 });
        let lent = |by: Option<CpuHog>| fifo(by.as_ref()).ok().map(|params| params.priority);
        assert_eq!(lent(by(Policy::Fifo, 50)), Some(51));
        assert_eq!(lent(by(Policy::Other, 0)), Some(1));
        assert_eq!(lent(by(Policy::Fifo, 97)), Some(98));
        assert_eq!(lent(by(Policy::Fifo, 98)), None, "the guard itself may have 99");
        assert_eq!(lent(by(Policy::Rr, 99)), None);
        assert_eq!(lent(by(Policy::Deadline, 0)), None);
        assert_eq!(lent(None), None);
    }

    #[test]
    fn values_that_a_policy_does_not_use_do_not_count() {
        let fifo = SchedParams::fifo(5);
        assert!(is_same(&SchedParams { nice: 3, slice: Some(whylate_base::Ns(1)), ..fifo }, &fifo));
        assert!(!is_same(&SchedParams { reset_on_fork: true, ..fifo }, &fifo));
        assert!(!is_same(&SchedParams { nice: 3, ..SchedParams::OTHER }, &SchedParams::OTHER));
    }
}
