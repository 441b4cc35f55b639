//! The threads to choose from, where no real-time thread was active.

use whylate_base::{Comm, Ns, Policy, Priority, Tid};

/// The threads of a trace in which no real-time thread was active.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    /// False where no event shows a priority or a policy.
    pub shows_policies: bool,
    /// False where no wake-up is recorded: the list goes by waits, and not by latencies.
    pub shows_wakeups: bool,
    /// True where threads of the kernel's own are real-time.
    pub kernel_realtime: bool,
    /// The real-time threads of programs: none of them was active.
    pub idle_realtime: Vec<(Tid, Comm)>,
    /// Most likely meant first; at most 10.
    pub threads: Vec<Candidate>,
    /// How many more there are.
    pub more: u64,
}

/// A thread that the user may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its id.
    pub tid: Tid,
    /// Its last name.
    pub comm: Comm,
    /// Its policy, where the recording shows it.
    pub policy: Option<Policy>,
    /// Its own priority, without inheritance; [`Priority::UNKNOWN`] where no event shows it.
    pub priority: Priority,
    /// How many activations were seen, whole or cut off.
    pub activations: u64,
    /// The longest time from due to running, or to the end of the trace where it never ran; `None` if no activation was
    /// seen from its beginning, or the trace has no wake-ups.
    pub latency: Option<Ns>,
    /// The longest time that it was runnable and did not run, woken or preempted; `None`: it never waited.
    pub wait: Option<Ns>,
    /// What it belongs to.
    pub kind: CandidateKind,
    /// True when its worst activations are in the explanation.
    pub is_explained: bool,
}

/// What a thread belongs to, most likely meant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CandidateKind {
    /// The command that was recorded, and what it started.
    Command,
    /// Another program.
    Program,
    /// A program that records traces, such as trace-cmd.
    Recorder,
    /// The kernel.
    Kernel,
}
