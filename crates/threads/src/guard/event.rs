//! What a guard reports.

use super::cpu_hog::CpuHog;
use super::look::WatchedThread;
use whylate_base::{Cpu, Ns};
use whylate_sys::SchedParams;

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardEvent {
    /// It guards: sentences about itself and the machine.
    Started(Vec<String>),
    /// About a thread.
    Thread(ThreadEvent),
    /// A look was taken.
    Looked(GuardCounts),
    /// It has ended, and nothing is lent any more.
    Stopped(GuardCounts),
}

/// A starving thread.
#[derive(Clone, Debug, PartialEq)]
pub struct StarvingThread {
    /// It.
    pub thread: WatchedThread,
    /// The CPU that it waits for.
    pub cpu: Cpu,
    /// For how long at least.
    pub waited: Ns,
    /// What had the CPU meanwhile; `None`: cannot tell.
    pub by: Option<CpuHog>,
}

/// An event of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadEvent {
    /// CLOCK_MONOTONIC.
    pub at: Ns,
    /// The thread, as it was when it was found starving.
    pub starving: StarvingThread,
    /// What happened to it.
    pub kind: ThreadEventKind,
}

/// What happened to a thread.
#[derive(Clone, Debug, PartialEq)]
pub enum ThreadEventKind {
    /// It is runnable and does not run.
    Starving,
    /// It was lent a policy.
    Boosted {
        /// The policy.
        lent: SchedParams,
        /// Lent in slices of this length, one each period; `None`: at once.
        slices: Option<Ns>,
        /// For no longer than this.
        longest: Ns,
        /// Why it is not SCHED_DEADLINE.
        instead: Option<String>,
    },
    /// It is not helped.
    Refused {
        /// Why.
        reason: String,
    },
    /// It has its own policy again.
    Restored {
        /// Its own policy.
        to: SchedParams,
        /// For how long it had the other.
        after: Ns,
        /// For how long it ran meanwhile; `None`: it has ended.
        ran: Option<Ns>,
        /// Why it was restored.
        end: BoostEnd,
    },
}

/// Why a boost ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoostEnd {
    /// The thread sleeps: it has done what it waited for.
    Asleep,
    /// The longest time is over.
    TimeOver,
    /// The guard ends.
    GuardEnds,
    /// The thread has ended.
    ThreadEnded,
    /// The thread, or another program, has given it another policy, which stays.
    ChangedMeanwhile,
    /// It could not be restored.
    Failed(String),
}

/// What a guard did since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardCounts {
    /// Looks at all threads.
    pub looks: u64,
    /// Threads at the last look.
    pub threads: usize,
    /// Starving threads found; a thread that starves again counts again.
    pub starving: u64,
    /// Boosts.
    pub boosted: u64,
    /// Starving threads that were not helped.
    pub refused: u64,
    /// Boosted threads at this time.
    pub lent_now: usize,
    /// The longest wait of all.
    pub longest_wait: Ns,
    /// The guard's own CPU time.
    pub own_cpu_time: Ns,
    /// How long it has guarded.
    pub elapsed: Ns,
}
