//! What is changed in a recording before it is replayed, or in a task set before it is simulated: `ctl.priority=60`,
//! `throttling=off`.

mod apply;
mod parse;

pub(crate) use apply::thread;
pub use apply::{ChangeError, apply, apply_to_task_set, matches, select, tasks_named, unknown};

use crate::model::{FairServer, KernelSeries};
use whylate_base::{CpuSet, Ns};

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayChange {
    /// Of the threads that a name, an id or a pattern selects.
    Thread {
        /// The selection, as it was written.
        target: String,
        /// What about them.
        what: ThreadChange,
    },
    /// Of the machine.
    Machine(MachineChange),
}

/// A change of threads.
#[derive(Clone, Debug, PartialEq)]
pub enum ThreadChange {
    /// The real-time priority.
    Priority(u8),
    /// The policy.
    Policy(PolicyName),
    /// The nice value.
    Nice(i8),
    /// The CPUs they may use.
    Cpus(CpuSet),
    /// When they are due first; threads of a recording: so much later than there.
    Offset(Ns),
    /// Their CPU time, as a factor.
    Scale(f64),
    /// They are not there.
    Remove,
}

/// A policy that a thread can be given without other parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyName {
    /// SCHED_FIFO
    Fifo,
    /// SCHED_RR
    Rr,
    /// SCHED_OTHER
    Other,
    /// SCHED_IDLE
    Idle,
}

/// A change of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum MachineChange {
    /// The runtime of real-time threads in each period; `None`: no limit.
    RtRuntime(Option<Ns>),
    /// The fair server; a runtime of zero is off.
    FairServer(FairServer),
    /// The kernel's version, and whether its release names PREEMPT_RT.
    Kernel(KernelSeries, bool),
    /// The CPUs among which the scheduler does not balance.
    Isolated(CpuSet),
}

/// A change with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenChange {
    /// As it was written, with its option: `--set ctl.priority=60`.
    pub text: String,
    /// What it does.
    pub change: ReplayChange,
}
