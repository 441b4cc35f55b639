//! The measuring thread: raise, bind, warm up, then sleep and look at the clock.

use crate::block::Block;
use crate::recorder::{Recorder, Signals};
use crate::worst::Worst;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use whylate_base::{Cpu, CpuSet, Ns, Tid};
use whylate_sys::{Clock, SchedParams, SysError, Usage};

/// Wake-ups at the start whose latency is not counted: they fault in code and fill caches.
pub const WARM_UP: u32 = 10;
/// They follow each other at least this fast, so that a long interval has no long warm-up.
const WARM_UP_INTERVAL: Ns = Ns::from_ms(1);

/// Stack touched beforehand: more than the loop uses, less than the thread has.
const PREFAULT: usize = 64 << 10;

/// The stack of a measuring thread.
pub(crate) const STACK: usize = 256 << 10;

/// What a measuring thread is to do.
pub(crate) struct Task {
    pub(crate) cpu: Cpu,
    pub(crate) wanted: SchedParams,
    pub(crate) interval: Ns,
    /// From the common start to this thread's first period, so that not all CPUs wake at once.
    pub(crate) phase: Ns,
    pub(crate) threshold: Ns,
    pub(crate) worst: usize,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) signals: Arc<Signals>,
}

/// What a measuring thread reports before its first sleep.
pub(crate) struct Ready {
    pub(crate) cpu: Cpu,
    pub(crate) tid: Tid,
    /// The policy it has, and the refusal if it is not the one wanted.
    pub(crate) sched: SchedParams,
    pub(crate) refused: Option<SysError>,
}

/// Why a measuring thread cannot measure.
pub(crate) struct Unable {
    pub(crate) cpu: Cpu,
    /// True when the CPU was refused, false when anything else was.
    pub(crate) binding: bool,
    pub(crate) error: SysError,
}

/// What a measuring thread remembers of its samples.
struct Seen {
    worst: Worst,
    /// `None` during the warm-up, whose samples count nowhere.
    block: Option<Block>,
}

/// What the thread used, without the warm-up.
pub(crate) type Outcome = Result<Usage, SysError>;

impl Task {
    /// The whole life of the thread.
    pub(crate) fn run(self, report: Sender<Result<Ready, Unable>>) -> Outcome {
        match self.prepare() {
            // The controller has given up waiting when it no longer listens; then `stop` is set.
            Ok(ready) => drop(report.send(Ok(ready))),
            Err(unable) => {
                drop(report.send(Err(unable)));
                return Ok(Usage::default());
            }
        }
        drop(report);
        loop {
            if self.signals.stop.load(Relaxed) {
                return Ok(Usage::default());
            }
            match self.signals.go.load(Relaxed) {
                0 => std::thread::park(),
                start => return self.measure(Ns(start) + self.phase),
            }
        }
    }

    /// Raises the priority first and binds second: the other way round, a hog of lower
    /// priority on that CPU would keep the thread from ever raising itself.
    fn prepare(&self) -> Result<Ready, Unable> {
        let unable = |binding| move |error| Unable { cpu: self.cpu, binding, error };
        let refused = whylate_sys::setattr(Tid(0), &self.wanted).err();
        whylate_sys::setaffinity(Tid(0), &CpuSet::from_iter([self.cpu])).map_err(unable(true))?;
        if refused.is_some() {
            // The 50 us by which the kernel may delay a SCHED_OTHER thread's timer are its
            // choice, not the machine's latency; real-time threads have none.
            whylate_sys::set_timer_slack(Ns(1)).map_err(unable(false))?;
        }
        let sched = whylate_sys::getattr(Tid(0)).map_err(unable(false))?;
        prefault_stack();
        self.recorder.spikes.touch();
        self.recorder.blocks.touch();
        self.recorder.reset();
        Ok(Ready { cpu: self.cpu, tid: whylate_sys::gettid(), sched, refused })
    }

    /// The measurement. Nothing in here may allocate, lock, log, or touch memory that the
    /// warm-up did not.
    fn measure(&self, first: Ns) -> Outcome {
        let mut seen = Seen { worst: Worst::new(self.worst), block: None };
        let mut due = first;
        for _ in 0..WARM_UP {
            if self.signals.stop.load(Relaxed) {
                break;
            }
            due = self.period(due, self.interval.min(WARM_UP_INTERVAL), &mut seen)?;
        }
        self.recorder.reset();
        seen = Seen { worst: Worst::new(self.worst), block: Some(Block::new(due)) };
        whylate_sys::thread_usage()?;
        let before = whylate_sys::thread_usage()?;
        while !self.signals.stop.load(Relaxed) {
            due = self.period(due, self.interval, &mut seen)?;
        }
        if let Some(block) = &mut seen.block {
            block.end(&self.recorder);
        }
        let after = whylate_sys::thread_usage()?;
        Ok(Usage {
            user: after.user - before.user,
            system: after.system - before.system,
            minor_faults: after.minor_faults - before.minor_faults,
            major_faults: after.major_faults - before.major_faults,
            voluntary_switches: after.voluntary_switches - before.voluntary_switches,
            involuntary_switches: after.involuntary_switches - before.involuntary_switches,
        })
    }

    /// Sleeps until `due`, counts how late it was, and returns the next due instant.
    #[inline]
    fn period(&self, due: Ns, interval: Ns, seen: &mut Seen) -> Result<Ns, SysError> {
        self.recorder.due.store(due.0, Relaxed);
        whylate_sys::sleep_until(Clock::Monotonic, due)?;
        let woken = whylate_sys::now(Clock::Monotonic);
        let latency = woken - due;
        self.recorder.histogram.record(latency);
        // Both are evaluated for every sample, so that the worst stay the worst of all.
        let spike = seen.worst.admits(latency) | (latency >= self.threshold);
        if let Some(block) = &mut seen.block {
            block.record(woken, latency, &self.recorder);
            if spike {
                self.recorder.spikes.push(due, woken);
            }
        }
        let periods = latency.0.max(0) / interval.0.max(1);
        self.recorder.miss(periods);
        Ok(due + Ns(interval.0.saturating_mul(periods.saturating_add(1))))
    }
}

#[inline(never)]
fn prefault_stack() {
    black_box(&mut [0u8; PREFAULT]);
}
