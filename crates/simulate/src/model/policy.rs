//! How a thread is scheduled.

use whylate_base::{Ns, Policy, Priority};

/// How a thread is scheduled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TaskPolicy {
    /// The stop class.
    Stop,
    /// SCHED_DEADLINE
    Deadline {
        /// Its runtime.
        runtime: Ns,
        /// Its relative deadline.
        deadline: Ns,
        /// Its period.
        period: Ns,
    },
    /// SCHED_FIFO, with the user's priority 1 to 99.
    Fifo(u8),
    /// SCHED_RR, with the user's priority 1 to 99.
    Rr(u8),
    /// SCHED_OTHER (or SCHED_BATCH), with its nice value.
    Other(i8),
    /// SCHED_IDLE
    Idle,
}

impl TaskPolicy {
    /// The policy; the stop class shows as SCHED_FIFO.
    pub fn policy(self) -> Policy {
        match self {
            TaskPolicy::Deadline { .. } => Policy::Deadline,
            TaskPolicy::Stop | TaskPolicy::Fifo(_) => Policy::Fifo,
            TaskPolicy::Rr(_) => Policy::Rr,
            TaskPolicy::Other(_) => Policy::Other,
            TaskPolicy::Idle => Policy::Idle,
        }
    }

    /// The kernel's priority.
    pub fn priority(self) -> Priority {
        match self {
            TaskPolicy::Stop => Priority(0),
            TaskPolicy::Deadline { .. } => Priority(-1),
            TaskPolicy::Fifo(user) | TaskPolicy::Rr(user) => Priority::realtime(user.into()),
            TaskPolicy::Other(nice) => Priority(120 + i32::from(nice)),
            TaskPolicy::Idle => Priority(120),
        }
    }

    /// The user's real-time priority; `None` of other classes.
    pub fn rt_priority(self) -> Option<u8> {
        match self {
            TaskPolicy::Fifo(user) | TaskPolicy::Rr(user) => Some(user),
            _ => None,
        }
    }

    /// True for SCHED_OTHER and SCHED_IDLE.
    pub fn is_fair(self) -> bool {
        matches!(self, TaskPolicy::Other(_) | TaskPolicy::Idle)
    }
}
