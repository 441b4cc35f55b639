//! All that a measuring thread writes: preallocated atomics, shared with the controller.

use crate::histogram::LiveHistogram;
use crate::ring::Ring;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use whylate_base::Ns;

/// One CPU's counters. Only its measuring thread writes, until it has ended.
pub(crate) struct Recorder {
    pub(crate) histogram: LiveHistogram,
    /// When due, when woken, on which CPU.
    pub(crate) spikes: Ring<3>,
    /// The beginning and the largest latency of each [`BLOCK`](crate::block::BLOCK) of time.
    pub(crate) blocks: Ring<2>,
    pub(crate) missed: AtomicU64,
    /// How long the thread watched the clock in all, of those that spin.
    pub(crate) watched: AtomicI64,
    /// Of the hwlat probe: windows in which something else happened on the CPU. Of the deadline probe: periods whose
    /// work was not done by the deadline.
    pub(crate) spoilt: AtomicU64,
    /// The instant the thread sleeps for at present. Of the ipc probe its waker stores it.
    pub(crate) due: AtomicI64,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Recorder {
            histogram: LiveHistogram::new(),
            spikes: Ring::new(),
            blocks: Ring::new(),
            missed: AtomicU64::new(0),
            watched: AtomicI64::new(0),
            spoilt: AtomicU64::new(0),
            due: AtomicI64::new(0),
        }
    }

    /// Counts periods that went by.
    pub(crate) fn miss(&self, periods: i64) {
        if periods > 0 {
            self.missed.store(self.missed.load(Relaxed).saturating_add(periods as u64), Relaxed);
        }
    }

    /// Counts time in which the thread watched the clock.
    pub(crate) fn watch(&self, time: Ns) {
        self.watched.store(self.watched.load(Relaxed).saturating_add(time.0), Relaxed);
    }

    /// Counts a window or a period that is spoilt.
    pub(crate) fn spoil(&self) {
        self.spoilt.store(self.spoilt.load(Relaxed).saturating_add(1), Relaxed);
    }

    /// Forgets the warm-up's samples; the rings have none of them.
    pub(crate) fn reset(&self) {
        self.histogram.reset();
        self.missed.store(0, Relaxed);
        self.watched.store(0, Relaxed);
        self.spoilt.store(0, Relaxed);
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
    /// The instant at which the threads end by themselves; 0 for never.
    pub(crate) until: AtomicI64,
}
