//! Threads that hand a real-time thread its input, and waited for a CPU in the middle of that.

use rustc_hash::FxHashMap;
use whylate_base::{Cpu, Ns, Priority, Tid};

/// A thread that woke a real-time thread, and waited for a CPU before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LateProducer {
    pub(crate) tid: Tid,
    /// The thread for whose period it worked; `None` of one that works by itself.
    pub(crate) of: Option<Tid>,
    /// When it was woken for that, or when it woke the same thread before; of one that works by itself, since when that has waited for it.
    pub(crate) from: Ns,
    /// When it woke the real-time thread.
    pub(crate) to: Ns,
    /// For how long of that it waited for a CPU.
    pub(crate) queued: Ns,
    /// The CPU for which it waited last.
    pub(crate) cpu: Cpu,
    /// The thread that had the CPU for most of that time.
    pub(crate) behind: Option<(Tid, Priority)>,
}

/// Those of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateInput {
    pub(crate) times: u64,
    /// The one that waited longest.
    pub(crate) worst: LateProducer,
}

/// The real-time threads whose input came late so.
#[derive(Debug, Default)]
pub(crate) struct LateProducers {
    by_thread: FxHashMap<Tid, LateInput>,
}

impl LateProducers {
    pub(crate) fn note(&mut self, woken: Tid, late: LateProducer) {
        let input = self.by_thread.entry(woken).or_insert(LateInput { times: 0, worst: late });
        input.times += 1;
        if late.queued > input.worst.queued {
            input.worst = late;
        }
    }

    pub(crate) fn of(&self, woken: Tid) -> Option<LateInput> {
        self.by_thread.get(&woken).copied()
    }
}
