//! What becomes of a sample: the measuring thread's side of the recorder.

use crate::block::Block;
use crate::recorder::{Recorder, Signals};
use crate::worst::Worst;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use whylate_base::{Cpu, Ns};

/// Which samples are spikes, and when there are enough.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// A latency from here on is a spike.
    pub(crate) threshold: Ns,
    /// So is one among this many worst.
    pub(crate) worst: usize,
    /// A spike over the threshold ends the measurement.
    pub(crate) stop_at_threshold: bool,
    /// So many samples end this thread's part of it.
    pub(crate) loops: u64,
}

/// Takes in samples. Allocates nothing.
pub(crate) struct Sampler {
    pub(crate) recorder: Arc<Recorder>,
    signals: Arc<Signals>,
    wanted: Wanted,
    cpu: Cpu,
    worst: Worst,
    /// `None` during the warm-up, whose samples count nowhere.
    block: Option<Block>,
    left: u64,
}

impl Sampler {
    /// For a thread on `cpu`; warming up.
    pub(crate) fn new(cpu: Cpu, wanted: Wanted, recorder: Arc<Recorder>, signals: Arc<Signals>) -> Self {
        Sampler {
            recorder,
            signals,
            wanted,
            cpu,
            worst: Worst::new(wanted.worst),
            block: None,
            left: u64::MAX,
        }
    }

    /// The warm-up is over: forgets what it was.
    pub(crate) fn forget(&mut self) {
        self.recorder.reset();
        self.worst = Worst::new(self.wanted.worst);
    }

    /// From here on samples count.
    pub(crate) fn begin(&mut self, at: Ns) {
        self.block = Some(Block::new(at));
        self.left = self.wanted.loops;
    }

    /// True when this thread is to stop.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0 || self.signals.stop.load(Relaxed)
    }

    /// A sample that began and ended then.
    #[inline]
    pub(crate) fn sample(&mut self, due: Ns, woken: Ns) {
        let latency = woken - due;
        self.recorder.histogram.record(latency);
        // Both are evaluated for every sample, so that the worst stay the worst of all.
        let over = latency >= self.wanted.threshold;
        let spike = self.worst.admits(latency) | over;
        if let Some(block) = &mut self.block {
            block.record(woken, latency, &self.recorder);
            self.left = self.left.saturating_sub(1);
            if spike {
                self.recorder.spikes.push([due.0, woken.0, i64::from(self.cpu.0)]);
                if over && self.wanted.stop_at_threshold {
                    self.signals.stop.store(true, Relaxed);
                }
            }
        }
    }

    /// The same, of a thread that may be on any CPU.
    #[inline]
    pub(crate) fn sample_on(&mut self, cpu: Cpu, due: Ns, woken: Ns) {
        self.cpu = cpu;
        self.sample(due, woken);
    }

    /// Nothing comes any more.
    pub(crate) fn end(&mut self) {
        if let Some(block) = &mut self.block {
            block.end(&self.recorder);
        }
    }
}
