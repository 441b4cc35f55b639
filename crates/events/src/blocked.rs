//! What an uninterruptible sleep was in.

use crate::Symbol;
use whylate_base::Tid;

/// `sched_blocked_reason`, of Android's kernels, as an uninterruptible sleep ends: between `sched_waking` and `sched_wakeup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedReason {
    /// The thread that slept.
    pub tid: Tid,
    /// It waited for input or output (`in_iowait`).
    pub io_wait: bool,
    /// The function of the kernel that called the scheduler, as wchan shows it.
    pub caller: Symbol,
}
