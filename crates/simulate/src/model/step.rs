//! A part of a job.

use super::amount::Amount;
use super::policy::TaskPolicy;
use whylate_base::{CpuSet, Ns};

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
    /// Sleeps in the middle of the job until another task wakes it.
    Await {
        /// That task.
        by: usize,
        /// How long it slept in the recording.
        seen: Ns,
    },
    /// Changes its own policy or priority.
    SetScheduling(TaskPolicy),
    /// Changes its own CPUs.
    SetCpus(CpuSet),
}
