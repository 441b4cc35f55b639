//! What a thread does that leaves the CPU.

/// The state in which a thread left the CPU, whatever its version's bits were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// `R`: still runnable, it gave way (`sched_yield`) or was taken off.
    Runnable,
    /// `R+`: preempted.
    Preempted,
    /// `S`: sleeps, a signal may wake it.
    Interruptible,
    /// `D`: sleeps uninterruptibly: a device, a kernel lock, a page.
    Uninterruptible,
    /// `I`: an idle kernel thread.
    Idle,
    /// `X` or `Z`: it ends here.
    Dead,
    /// `T`: stopped by a signal (SIGSTOP and the like), until another one continues it.
    Stopped,
    /// `t`: stopped for the program that traces it (`ptrace(2)`).
    Traced,
    /// Parked, or bits this version does not know.
    Other,
}

impl TaskState {
    /// True when the thread still wants the CPU.
    pub fn is_runnable(self) -> bool {
        matches!(self, TaskState::Runnable | TaskState::Preempted)
    }
}
