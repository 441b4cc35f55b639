//! The measuring thread: raise, bind, warm up, then measure round by round. Its companion of the ipc probe, which
//! wakes it, begins in the same way.

use crate::job::Job;
use crate::meter::{Link, Meter, Pace};
use crate::recorder::{Recorder, Signals};
use crate::sampler::{Sampler, Wanted};
use crate::setup::ThreadSetup;
use crate::warm_up::{WARM_UP, WARM_UP_INTERVAL};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use whylate_base::{Cpu, CpuSet, Ns, Policy, Tid};
use whylate_sys::{Clock, SchedParams, SysError, Usage};

/// Stack touched beforehand: more than the loop uses, less than the thread has.
const PREFAULT: usize = 64 << 10;

/// The stack of a measuring thread.
pub(crate) const STACK: usize = 256 << 10;

/// What a measuring thread is to do.
pub(crate) struct Task {
    /// Which of the measuring threads it is.
    pub(crate) nth: usize,
    pub(crate) setup: ThreadSetup,
    pub(crate) job: Job,
    pub(crate) wanted: Wanted,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) signals: Arc<Signals>,
}

/// What its waker is to do.
pub(crate) struct WakerTask {
    pub(crate) nth: usize,
    pub(crate) setup: ThreadSetup,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) link: Arc<Link>,
}

/// What a thread reports before its first sleep.
pub(crate) struct Ready {
    pub(crate) nth: usize,
    /// True of a measuring thread, false of its waker.
    pub(crate) measures: bool,
    pub(crate) cpu: Cpu,
    pub(crate) tid: Tid,
    /// The policy it has, and the refusal if it is not the one wanted.
    pub(crate) sched: SchedParams,
    pub(crate) refused: Option<SysError>,
    /// Why the interrupts of its CPU cannot be counted, of the hwlat probe.
    pub(crate) uncounted: Option<String>,
}

/// Why a thread cannot measure.
pub(crate) struct Unable {
    /// The CPU that was refused, when it was that.
    pub(crate) refused: Option<Cpu>,
    pub(crate) error: SysError,
}

impl From<SysError> for Unable {
    fn from(error: SysError) -> Unable {
        Unable { refused: None, error }
    }
}

/// What the thread used, without the warm-up.
pub(crate) type ThreadResult = Result<Usage, SysError>;

impl Task {
    /// The whole life of the thread.
    pub(crate) fn run(self, report: Sender<Result<Ready, Unable>>) -> ThreadResult {
        let entered = enter(&self.setup).and_then(|(sched, refused)| {
            let (meter, uncounted) = self.job.meter()?;
            Ok((meter, self.ready(sched, refused, uncounted)))
        });
        let mut meter = match entered {
            Ok((meter, ready)) => {
                self.recorder.spikes.touch();
                self.recorder.blocks.touch();
                self.recorder.reset();
                // The controller has given up waiting when it no longer listens; then `stop` is set.
                drop(report.send(Ok(ready)));
                meter
            }
            Err(unable) => {
                drop(report.send(Err(unable)));
                return Ok(Usage::default());
            }
        };
        drop(report);
        match self.signals.await_go() {
            Some(start) => self.measure(&mut *meter, start + self.setup.phase),
            None => Ok(Usage::default()),
        }
    }

    fn ready(&self, sched: SchedParams, refused: Option<SysError>, uncounted: Option<String>) -> Ready {
        let cpu = self.setup.cpu.unwrap_or_else(whylate_sys::current_cpu);
        let tid = whylate_sys::gettid();
        Ready { nth: self.nth, measures: true, cpu, tid, sched, refused, uncounted }
    }

    /// The measurement. Nothing in here may allocate, lock, log, or touch memory that the
    /// warm-up did not.
    fn measure(&self, meter: &mut dyn Meter, first: Ns) -> ThreadResult {
        let cpu = self.setup.cpu.unwrap_or_else(whylate_sys::current_cpu);
        let recorder = Arc::clone(&self.recorder);
        let mut sampler = Sampler::new(cpu, self.wanted, recorder, Arc::clone(&self.signals));
        let interval = self.setup.interval;
        let warm = interval.min(WARM_UP_INTERVAL);
        meter.start(Pace { first, interval: warm, warm_up: true })?;
        let rounds = self.job.warm_up(interval);
        for _ in 0..rounds {
            if sampler.is_over() {
                break;
            }
            meter.round(&mut sampler)?;
        }
        // Emptying the histogram takes longer than a short interval: only then is the first instant chosen.
        sampler.forget();
        let first = later(first + Ns(warm.0 * i64::from(rounds)), interval);
        sampler.begin(first);
        used_since(&whylate_sys::thread_usage()?)?;
        let before = whylate_sys::thread_usage()?;
        // Last of all: from here on a spinning thread counts every gap.
        meter.start(Pace { first, interval, warm_up: false })?;
        while !sampler.is_over() && !self.signals.is_past() {
            meter.round(&mut sampler)?;
        }
        sampler.end();
        used_since(&before)
    }
}

impl WakerTask {
    /// The whole life of the waker.
    pub(crate) fn run(self, report: Sender<Result<Ready, Unable>>) -> ThreadResult {
        let entered = enter(&self.setup).and_then(|entered| {
            self.link.prepare_waker()?;
            Ok(entered)
        });
        match entered {
            Ok((sched, refused)) => drop(report.send(Ok(Ready {
                nth: self.nth,
                measures: false,
                cpu: whylate_sys::current_cpu(),
                tid: whylate_sys::gettid(),
                sched,
                refused,
                uncounted: None,
            }))),
            Err(unable) => {
                drop(report.send(Err(unable)));
                return Ok(Usage::default());
            }
        }
        drop(report);
        let Some(start) = self.signals.await_go() else { return Ok(Usage::default()) };
        let (first, interval) = (start + self.setup.phase, self.setup.interval);
        let warm = interval.min(WARM_UP_INTERVAL);
        let mut turn = 0;
        let due = self.link.wake_until(first, warm, u64::from(WARM_UP), &self.recorder, &mut turn)?;
        let before = whylate_sys::thread_usage()?;
        self.link.wake_until(later(due, interval), interval, u64::MAX, &self.recorder, &mut turn)?;
        used_since(&before)
    }
}

impl Signals {
    /// Whether the threads are to end by themselves.
    fn is_past(&self) -> bool {
        match self.until.load(Relaxed) {
            0 => false,
            until => whylate_sys::now(Clock::Monotonic) >= Ns(until),
        }
    }

    /// Sleeps until the threads are released, and gives the common start; `None` when they are to stop instead.
    fn await_go(&self) -> Option<Ns> {
        loop {
            if self.stop.load(Relaxed) {
                return None;
            }
            match self.go.load(Relaxed) {
                0 => std::thread::park(),
                start => return Some(Ns(start)),
            }
        }
    }
}

/// Raises the priority first and binds second: the other way round, a hog of lower
/// priority on that CPU would keep the thread from ever raising itself.
fn enter(setup: &ThreadSetup) -> Result<(SchedParams, Option<SysError>), Unable> {
    let refused = whylate_sys::setattr(Tid(0), &setup.sched).err();
    if let Some(cpu) = setup.cpu {
        whylate_sys::setaffinity(Tid(0), &CpuSet::from_iter([cpu]))
            .map_err(|error| Unable { refused: Some(cpu), error })?;
    }
    if refused.is_some() && setup.sched.policy != Policy::Other {
        // The 50 us by which the kernel may delay a SCHED_OTHER thread's timer are its
        // choice, not the machine's latency; real-time threads have none.
        whylate_sys::set_timer_slack(Ns(1))?;
    }
    let sched = whylate_sys::getattr(Tid(0))?;
    prefault_stack();
    Ok((sched, refused))
}

/// The first instant of the rhythm `due`, `due + interval` ... that is not past.
fn later(due: Ns, interval: Ns) -> Ns {
    let late = whylate_sys::now(Clock::Monotonic) - due;
    let periods = if late > Ns::ZERO { late.0 / interval.0.max(1) + 1 } else { 0 };
    due + Ns(interval.0.saturating_mul(periods))
}

fn used_since(before: &Usage) -> ThreadResult {
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

#[inline(never)]
fn prefault_stack() {
    black_box(&mut [0u8; PREFAULT]);
}
