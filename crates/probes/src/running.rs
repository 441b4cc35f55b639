//! A probe at work, as its controller sees it: look, stop.

use crate::recorder::Signals;
use crate::thread::{Ready, ThreadResult, Unable};
use crate::timerlat::Timerlat;
use crate::worker::{Ended, Worker};
use crate::{CpuResult, CpuUnusable, Degraded, ProbeError, ProbeKind, ProbeResult, ProbeThread, Spike, smi};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whylate_base::{Cpu, Ns, Tid};
use whylate_sys::{Clock, Lock, SchedParams};

/// How long the threads may take to get ready; a CPU taken by a thread of higher priority
/// gives them no time at all.
const READY_WITHIN: Duration = Duration::from_secs(5);
/// From release to the first period: enough for every thread to reach its first sleep.
const LEAD: Ns = Ns::from_ms(5);
/// How long after the end of the measurement threads end by themselves: usually they have been stopped by then.
const OVERDUE: Ns = Ns::from_ms(200);
/// How long a thread may take to end, beyond one interval.
const STOP_WITHIN: Ns = Ns::from_secs(2);

/// A probe at work. Dropping it stops the threads.
pub struct Running {
    kind: ProbeKind,
    workers: Vec<Worker>,
    signals: Arc<Signals>,
    locked: bool,
    degraded: Vec<Degraded>,
    started: Ns,
    /// Of the timerlat probe. Dropped after the threads have ended.
    timerlat: Option<Timerlat>,
}

impl Running {
    pub(crate) fn new(kind: ProbeKind, signals: Arc<Signals>) -> Running {
        let (workers, degraded) = (Vec::new(), Vec::new());
        Running { kind, workers, signals, locked: false, degraded, started: Ns::ZERO, timerlat: None }
    }

    /// The kernel's tracer measures, if any.
    pub(crate) fn measured_by(&mut self, timerlat: Option<Timerlat>) {
        self.timerlat = timerlat;
    }

    /// Adds a worker whose thread is the kernel's.
    pub(crate) fn add_kernels(&mut self, mut worker: Worker, tid: Tid, sched: SchedParams) {
        worker.thread = ProbeThread { tid, sched, ..worker.thread };
        self.workers.push(worker);
    }

    /// Adds a worker with its measuring thread, or without one, where there is none to be had.
    pub(crate) fn add(
        &mut self,
        mut worker: Worker,
        handle: Result<JoinHandle<ThreadResult>, ProbeError>,
    ) -> Result<(), ProbeError> {
        let (handle, result) = match handle {
            Ok(handle) => (Some(handle), Ok(())),
            Err(error) => (None, Err(error)),
        };
        worker.handle = handle;
        self.workers.push(worker);
        result
    }

    /// Lets the threads begin.
    ///
    /// Locks the process's present memory (MCL_CURRENT) until the measurement ends; memory
    /// mapped later is not locked, since the measuring threads touch none of it.
    pub fn release(&mut self) {
        self.lock_memory();
        // A thread that may move has no CPU whose interrupts are its own.
        let bound = self.workers.iter_mut().filter(|worker| worker.thread.bound);
        bound.for_each(|worker| worker.smis = smi::count(worker.thread.cpu));
        self.started = whylate_sys::now(Clock::Monotonic);
        if let Some(timerlat) = &mut self.timerlat {
            timerlat.begin(self.started);
        }
        self.signals.go.store((self.started + LEAD).0.max(1), Relaxed);
        self.wake();
    }

    /// Has the measuring threads end by themselves so long after their release, and a little more. Threads of a high
    /// priority that wake every few microseconds may leave no CPU to the thread that is to stop them.
    pub fn end_after(&self, duration: Ns) {
        let until = self.started.0.saturating_add(LEAD.0 + OVERDUE.0).saturating_add(duration.0);
        self.signals.until.store(until.max(1), Relaxed);
    }

    /// The measuring threads, by CPU.
    pub fn threads(&self) -> impl Iterator<Item = ProbeThread> + '_ {
        self.workers.iter().map(|worker| worker.thread)
    }

    /// True when all measuring threads have ended by themselves: they had their loops, the threshold was reached, or
    /// they failed, which [`stop`](Self::stop) reports. What the kernel measures is known as far as the last call of
    /// [`spikes`](Self::spikes).
    pub fn is_over(&self) -> bool {
        let ended = !self.workers.iter().any(Worker::is_alive);
        match &self.timerlat {
            Some(timerlat) => timerlat.is_over() || ended && self.has_threads(),
            None => ended,
        }
    }

    /// False where all measuring threads are the kernel's.
    fn has_threads(&self) -> bool {
        self.workers.iter().any(|worker| worker.handle.is_some())
    }

    /// What the measurement has to do without.
    pub fn degraded(&self) -> &[Degraded] {
        &self.degraded
    }

    /// The spikes since the last call, by CPU and in time order within each. To be called
    /// often enough: 1024 wait per CPU, further ones are counted only; and as many seconds' maxima.
    pub fn spikes(&mut self) -> Vec<Spike> {
        if let Some(timerlat) = &mut self.timerlat {
            timerlat.drain();
        }
        let mut spikes = Vec::new();
        let started = self.started;
        for worker in &mut self.workers {
            let tid = worker.thread.tid;
            while let Some([from, largest]) = worker.recorder.blocks.pop() {
                worker.maxima.record(Ns(from) - started, Ns(largest));
            }
            while let Some([due, woken, cpu]) = worker.recorder.spikes.pop() {
                let cpu = u32::try_from(cpu).map_or(worker.thread.cpu, Cpu);
                spikes.push(Spike { cpu, tid, due: Ns(due), woken: Ns(woken) });
            }
        }
        spikes
    }

    /// The measurement so far, for a display.
    pub fn snapshot(&self) -> Vec<CpuResult> {
        (0..).zip(&self.workers).map(|(nth, worker)| self.result(nth, worker)).collect()
    }

    fn result(&self, nth: usize, worker: &Worker) -> CpuResult {
        let result = worker.result(&self.kind);
        match &self.timerlat {
            Some(timerlat) => CpuResult { counts: timerlat.counts(nth), ..result },
            None => result,
        }
    }

    /// Ends the measurement; waits up to one interval and two seconds for the threads. One
    /// that is kept off its CPU for longer is left behind, ends when it gets to run, and
    /// its result has [`CpuResult::stuck_since`].
    ///
    /// # Errors
    /// [`ProbeError::Sys`] when a measuring thread's sleep or clock failed; of timerlat, when its events could not be
    /// read, or its settings not be put back.
    pub fn stop(mut self) -> Result<ProbeResult, ProbeError> {
        let outcomes = self.end();
        let elapsed = whylate_sys::now(Clock::Monotonic) - self.started;
        let spikes = self.spikes();
        let mut cpu_time = Ns::ZERO;
        let mut cpus = Vec::with_capacity(self.workers.len());
        for (nth, (worker, ended)) in self.workers.iter().zip(outcomes).enumerate() {
            let Ended { had_thread, outcome, waker } = ended;
            let mut result = self.result(nth, worker);
            // Without its waker a thread waits for ever: that it failed comes first.
            if let Some(usage) = waker.transpose()? {
                cpu_time += usage.user + usage.system;
            }
            match outcome.transpose()? {
                Some(usage) => {
                    result.minor_faults = Some(usage.minor_faults);
                    result.major_faults = Some(usage.major_faults);
                    result.preemptions = Some(usage.involuntary_switches);
                    cpu_time += usage.user + usage.system;
                }
                None if had_thread => result.stuck_since = Some(worker.recorder.due()),
                None => {
                    result.stuck_since =
                        self.timerlat.as_ref().and_then(|timerlat| timerlat.waits_since(nth));
                }
            }
            let now = worker.smis.and_then(|_| smi::count(worker.thread.cpu));
            result.smis = now.zip(worker.smis).map(|(now, before)| u64::from(now.wrapping_sub(before)));
            cpus.push(result);
        }
        self.timerlat.take().map_or(Ok(()), Timerlat::end)?;
        Ok(ProbeResult { cpus, spikes, elapsed, cpu_time, degraded: std::mem::take(&mut self.degraded) })
    }

    /// Waits until every thread has its priority and CPU.
    pub(crate) fn await_ready(
        &mut self,
        wanted: &SchedParams,
        reports: &mpsc::Receiver<Result<Ready, Unable>>,
    ) -> Result<(), ProbeError> {
        let until = Instant::now() + READY_WITHIN;
        for _ in 0..self.workers.iter().flat_map(Worker::handles).count() {
            match reports.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Ok(ready)) => self.note(wanted, ready),
                Ok(Err(Unable { refused: Some(cpu), error })) => {
                    let why = CpuUnusable::diagnose(cpu, error, Path::new("/sys/devices/system/cpu"));
                    return Err(ProbeError::Cpu { cpu, why });
                }
                Ok(Err(Unable { error, .. })) => return Err(error.into()),
                Err(_) => {
                    let waited = Ns(READY_WITHIN.as_nanos() as i64);
                    let missing = self.workers.iter().find(|worker| worker.thread.tid == Tid(0));
                    let cpu = missing.map_or(Cpu(0), |worker| worker.thread.cpu);
                    return Err(ProbeError::NoTime { cpu, waited });
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, wanted: &SchedParams, ready: Ready) {
        let Ready { nth, measures, cpu, tid, sched, refused, uncounted } = ready;
        if let Some(worker) = self.workers.get_mut(nth).filter(|_| measures) {
            worker.thread = ProbeThread { cpu, tid, sched, ..worker.thread };
        }
        let refused = refused.filter(|_| measures).map(|error| Degraded::priority(wanted, &error));
        for degraded in refused.into_iter().chain(uncounted.map(Degraded::interrupts)) {
            if !self.degraded.iter().any(|known| known.lacking == degraded.lacking) {
                self.degraded.push(degraded);
            }
        }
    }

    fn lock_memory(&mut self) {
        match whylate_sys::mlockall(Lock::Current) {
            Ok(()) => self.locked = true,
            Err(error) => self.degraded.push(Degraded::memory(&error)),
        }
    }

    fn wake(&self) {
        self.workers.iter().flat_map(Worker::handles).for_each(|handle| handle.thread().unpark());
    }

    /// True while a measuring thread is awaited, ours or the kernel's.
    fn is_busy(&mut self) -> bool {
        if let Some(timerlat) = &mut self.timerlat {
            timerlat.drain();
        }
        self.workers.iter().any(Worker::is_alive) || self.timerlat.as_ref().is_some_and(Timerlat::is_waiting)
    }

    /// Stops the threads and waits for them, within bounds: `None` for one that did not come back.
    fn end(&mut self) -> Vec<Ended> {
        if let Some(timerlat) = &mut self.timerlat {
            // What was measured by now counts.
            timerlat.drain();
        }
        self.signals.stop.store(true, Relaxed);
        self.wake();
        let longest = self.workers.iter().map(|worker| worker.interval).max().unwrap_or_default();
        // A thread that is woken ends an interval late, and its waker sees that one later.
        let intervals = if matches!(self.kind, ProbeKind::Ipc { .. }) { 2 } else { 1 };
        let patience = Ns(longest.0.saturating_mul(intervals)) + STOP_WITHIN;
        let until = Instant::now() + Duration::from_nanos(patience.0.unsigned_abs());
        let mut pause = Duration::from_micros(50);
        while self.is_busy() && Instant::now() < until {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        let outcomes = self.workers.iter_mut().map(Worker::join).collect();
        if let Some(timerlat) = &mut self.timerlat {
            timerlat.close();
            timerlat.free(&self.workers.iter().map(|worker| worker.thread.tid).collect::<Vec<_>>());
        }
        if std::mem::take(&mut self.locked) {
            // It can only fail for a process that is gone.
            let _ = whylate_sys::munlockall();
        }
        outcomes
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.locked || self.workers.iter().any(|worker| worker.handles().next().is_some()) {
            self.end();
        }
    }
}
