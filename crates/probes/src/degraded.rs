//! What a measurement had to do without, what that means, and how to get it.

use whylate_sys::{Resource, SchedParams, SysError, getrlimit};

/// A right that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lacking {
    /// The real-time policy and priority.
    Priority,
    /// Locked memory.
    LockedMemory,
    /// The counts of a CPU's interrupts.
    Interrupts,
}

/// One thing a measurement had to do without. It ran all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Degraded {
    /// What was refused.
    pub lacking: Lacking,
    /// What the numbers mean because of it.
    pub effect: String,
    /// The refusal: call, attempt and errno.
    pub reason: String,
    /// How to get the right.
    pub remedy: String,
}

impl Degraded {
    /// A measuring thread stays SCHED_OTHER.
    pub(crate) fn priority(wanted: &SchedParams, error: &SysError) -> Self {
        let limit = getrlimit(Resource::RtPriority).soft;
        let mut remedy = error.hint().unwrap_or_default().to_owned();
        if let Some(limit) = limit.filter(|&limit| limit > 0 && limit < u64::from(wanted.priority)) {
            remedy = format!("RLIMIT_RTPRIO allows priority {limit} now: measure with that, or: {remedy}");
        }
        Degraded {
            lacking: Lacking::Priority,
            effect:
                "measured as SCHED_OTHER: these numbers include the time slices of other threads; they are not \
                     real-time latencies"
                    .to_owned(),
            reason: error.to_string(),
            remedy,
        }
    }

    /// The hwlat probe cannot tell its gaps from those that interrupts make.
    pub(crate) fn interrupts(reason: String) -> Self {
        Degraded {
            lacking: Lacking::Interrupts,
            effect: "interrupts cannot be counted: these numbers include the gaps that interrupts cause, and show \
                     nothing about the hardware"
                .to_owned(),
            reason,
            remedy: "run where /proc/interrupts can be read: some containers hide it".to_owned(),
        }
    }

    /// Memory is not locked.
    pub(crate) fn memory(error: &SysError) -> Self {
        Degraded {
            lacking: Lacking::LockedMemory,
            effect:
                "memory is not locked: under memory pressure these numbers may include page faults of the \
                     measuring thread (the faults are counted)"
                    .to_owned(),
            reason: error.to_string(),
            remedy: error.hint().unwrap_or_default().to_owned(),
        }
    }
}
