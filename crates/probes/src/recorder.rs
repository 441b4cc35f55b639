//! All that a measuring thread writes: preallocated atomics, shared with the controller.

use crate::histogram::LiveHistogram;
use crate::ring::Ring;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use whylate_base::Ns;

/// One CPU's counters. Only its measuring thread writes, until it has ended.
pub(crate) struct Recorder {
    pub(crate) histogram: LiveHistogram,
    pub(crate) spikes: Ring,
    /// The largest latency of each [`BLOCK`](crate::block::BLOCK) of time.
    pub(crate) blocks: Ring,
    pub(crate) missed: AtomicU64,
    /// The instant the thread sleeps for at present.
    pub(crate) due: AtomicI64,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Recorder {
            histogram: LiveHistogram::new(),
            spikes: Ring::new(),
            blocks: Ring::new(),
            missed: AtomicU64::new(0),
            due: AtomicI64::new(0),
        }
    }

    /// Counts periods that went by.
    pub(crate) fn miss(&self, periods: i64) {
        if periods > 0 {
            self.missed.store(self.missed.load(Relaxed).saturating_add(periods as u64), Relaxed);
        }
    }

    /// Forgets the warm-up's samples; the rings have none of them.
    pub(crate) fn reset(&self) {
        self.histogram.reset();
        self.missed.store(0, Relaxed);
    }

    /// The instant the thread sleeps for at present.
    pub(crate) fn due(&self) -> Ns {
        Ns(self.due.load(Relaxed))
    }
}

/// How the controller starts and stops all measuring threads.
#[derive(Default)]
pub(crate) struct Signals {
    /// The instant of the first period; 0 while the threads wait for it.
    pub(crate) go: AtomicI64,
    pub(crate) stop: AtomicBool,
}
