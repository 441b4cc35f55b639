//! Tasks, and what they share.

use super::amount::Amount;
use whylate_base::{Comm, Cpu, CpuSet, Ns, Policy, Priority};

/// A thread, with what makes it due and what it then does.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name; unique.
    pub name: String,
    /// How it is scheduled.
    pub scheduling: TaskPolicy,
    /// The CPUs it may use; empty for all.
    pub cpus: CpuSet,
    /// What makes it due.
    pub arrival: Arrival,
    /// What it does once, before its first job.
    pub start: Vec<Step>,
    /// What it does in each job.
    pub steps: Vec<Step>,
    /// Done later than this after it was due, a job is late.
    pub deadline: Option<Ns>,
    /// What it does when its next period has begun already.
    pub when_late: WhenLate,
    /// Its control group, where that has a quota.
    pub group: Option<usize>,
}

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

/// What makes a task due.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival {
    /// At `offset`, and then every `period`; released up to `jitter` later.
    Periodic {
        /// The first time.
        offset: Ns,
        /// The distance of two.
        period: Ns,
        /// How much later than due it is released.
        jitter: Amount,
    },
    /// At `offset`, and then after a `gap` that differs.
    Sporadic {
        /// The first time.
        offset: Ns,
        /// The distance of two.
        gap: Amount,
    },
    /// At these instants, in ascending order.
    At(Vec<Ns>),
    /// Whenever a job of another task is done.
    After(usize),
    /// Whenever something wakes it: an interrupt, or a step of another task.
    Woken,
}

/// What a task does when its next period has begun before it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenLate {
    /// It does each missed job, at once.
    #[default]
    CatchUp,
    /// It leaves out the missed ones.
    Skip,
}

/// A part of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Uses a CPU.
    Run(Amount),
    /// Uses a CPU with interrupts disabled.
    IrqsOff(Amount),
    /// Uses a CPU with preemption disabled.
    PreemptOff(Amount),
    /// Takes a lock, or waits for it.
    Lock(usize),
    /// Gives a lock back.
    Unlock(usize),
    /// Sleeps in the middle of the job.
    Suspend(Amount),
    /// Wakes another task.
    Wake(usize),
    /// Changes its own policy or priority.
    SetScheduling(TaskPolicy),
    /// Changes its own CPUs.
    SetCpus(CpuSet),
}

/// A lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Its name; unique.
    pub name: String,
    /// What it does about priorities.
    pub protocol: LockProtocol,
}

/// What a lock does about the priority of its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockProtocol {
    /// PTHREAD_PRIO_NONE
    None,
    /// PTHREAD_PRIO_INHERIT
    Inherit,
    /// PTHREAD_PRIO_PROTECT: the owner has the highest priority of its users.
    Protect,
}

/// An interrupt of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupt {
    /// The action's name.
    pub name: Comm,
    /// The CPU it arrives on.
    pub cpu: Cpu,
    /// The first time.
    pub offset: Ns,
    /// The distance of two.
    pub gap: Amount,
    /// The time of its handler, in hard interrupt context.
    pub handler: Amount,
    /// The softirq that it raises, with its number and time; in a thread with PREEMPT_RT.
    pub softirq: Option<(u32, Amount)>,
    /// The task that it wakes: its thread, or what waits for the device.
    pub wakes: Option<usize>,
}

/// A control group with a quota of CPU time (`cpu.max`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name; unique.
    pub name: String,
    /// CPU time in each period.
    pub quota: Ns,
    /// The period.
    pub period: Ns,
}
