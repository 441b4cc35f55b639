//! Tasks, and what they share.

use super::amount::Amount;
use super::policy::TaskPolicy;
use super::script::Script;
use super::step::Step;
use whylate_base::{Comm, Cpu, CpuSet, Ns, Tid};

/// A thread, with what makes it due and what it then does.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name; unique.
    pub name: String,
    /// Its id, where it has one: that of a recording.
    pub tid: Option<Tid>,
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
    /// As a recording has it, which also has the steps.
    Recorded(Script),
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
    /// What it is.
    pub kind: InterruptSource,
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

/// What interrupts a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptSource {
    /// A device; with the number of its line, where that is known.
    Line(Option<u32>),
    /// A vector of the architecture: a timer, a call from another CPU.
    Vector,
    /// A softirq without an interrupt of its own.
    Softirq,
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
