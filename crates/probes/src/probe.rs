//! The timer probe as its controller sees it: choose, start, look, stop.

use crate::block::BLOCK;
use crate::recorder::{Recorder, Signals};
use crate::thread::{Outcome, Ready, STACK, Task, Unable};
use crate::{CpuResult, CpuUnusable, Degraded, ProbeError, Spike, TimerResult};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whylate_base::{Cpu, CpuSet, Ns, Tid};
use whylate_stats::Maxima;
use whylate_sys::{Clock, Lock, SchedParams};

/// Measures how late threads wake from timed sleeps: one SCHED_FIFO thread per CPU sleeps
/// to absolute instants of CLOCK_MONOTONIC and reads the clock when it wakes, as cyclictest does.
///
/// Unlike cyclictest it does not hold `/dev/cpu_dma_latency` at 0: a wake from a deep idle
/// state takes as long as it would take for an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerProbe {
    /// The CPUs to measure; `None` for all that the calling thread may run on.
    pub cpus: Option<CpuSet>,
    /// The SCHED_FIFO priority, 1 to 99. 80 unless chosen: above the IRQ threads' 50,
    /// below the kernel's own 99, and what most published cyclictest runs use.
    pub priority: u32,
    /// From one wake-up to the next, 10 us to 10 s. 1 ms unless chosen, as cyclictest's.
    pub interval: Ns,
    /// A wake-up at least this late is a spike.
    pub threshold: Option<Ns>,
    /// A wake-up among this many worst of its CPU so far is a spike, too.
    pub worst: usize,
}

impl Default for TimerProbe {
    fn default() -> Self {
        TimerProbe { cpus: None, priority: 80, interval: Ns::from_ms(1), threshold: None, worst: 5 }
    }
}

/// A CPU and its measuring thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeThread {
    /// The CPU.
    pub cpu: Cpu,
    /// The thread.
    pub tid: Tid,
    /// The policy and priority it really has.
    pub sched: SchedParams,
}

/// How long the threads may take to get ready; a CPU taken by a thread of higher priority
/// gives them no time at all.
const READY_WITHIN: Duration = Duration::from_secs(5);
/// From release to the first period: enough for every thread to reach its first sleep.
const LEAD: Ns = Ns::from_ms(5);
/// How long a thread may take to end, beyond one interval.
const STOP_WITHIN: Ns = Ns::from_secs(2);

impl TimerProbe {
    /// Prepares the measuring threads and releases them at once.
    ///
    /// # Errors
    /// As for [`prepare`](Self::prepare).
    pub fn start(&self) -> Result<Running, ProbeError> {
        let mut running = self.prepare()?;
        running.release();
        Ok(running)
    }

    /// Checks the choices and makes the measuring threads, each with its priority and on its
    /// CPU. They wait for [`Running::release`]: what is to see their first sample is set up
    /// in between.
    ///
    /// # Errors
    /// [`ProbeError`] for a value out of range, a CPU that cannot be used, or a measuring
    /// thread that gets no time. A refused priority or memory lock is no error: see
    /// [`Running::degraded`].
    pub fn prepare(&self) -> Result<Running, ProbeError> {
        let cpus = self.check()?;
        let signals = Arc::new(Signals::default());
        let (report, reports) = mpsc::channel();
        let mut running = Running {
            interval: self.interval,
            workers: Vec::new(),
            signals,
            locked: false,
            degraded: vec![],
            started: Ns::ZERO,
        };
        let wanted = SchedParams::fifo(self.priority);
        for (nth, cpu) in (0i64..).zip(cpus.iter()) {
            let recorder = Arc::new(Recorder::new());
            let task = Task {
                cpu,
                wanted,
                interval: self.interval,
                phase: Ns(self.interval.0 * nth / cpus.len() as i64),
                threshold: self.threshold.unwrap_or(Ns::MAX),
                worst: self.worst,
                recorder: Arc::clone(&recorder),
                signals: Arc::clone(&running.signals),
            };
            let report = report.clone();
            let handle = std::thread::Builder::new()
                .name(format!("whylate/{cpu}"))
                .stack_size(STACK)
                .spawn(move || task.run(report))
                .map_err(|error| ProbeError::Thread { cpu, reason: error.to_string() })?;
            let thread = ProbeThread { cpu, tid: Tid(0), sched: SchedParams::OTHER };
            let maxima = Maxima::new(BLOCK);
            running.workers.push(Worker { thread, recorder, handle: Some(handle), maxima });
        }
        drop(report);
        running.await_ready(&wanted, &reports)?;
        Ok(running)
    }

    fn check(&self) -> Result<CpuSet, ProbeError> {
        if self.interval < Ns::from_us(10) || self.interval > Ns::from_secs(10) {
            return Err(ProbeError::Interval(self.interval));
        }
        if !(1..=99).contains(&self.priority) {
            return Err(ProbeError::Priority(self.priority));
        }
        if let Some(threshold) = self.threshold.filter(|&threshold| threshold <= Ns::ZERO) {
            return Err(ProbeError::Threshold(threshold));
        }
        if self.worst > crate::worst::MAX {
            return Err(ProbeError::Worst(self.worst));
        }
        let cpus = match &self.cpus {
            Some(cpus) => cpus.clone(),
            None => whylate_sys::getaffinity(Tid(0))?,
        };
        if cpus.is_empty() { Err(ProbeError::NoCpus) } else { Ok(cpus) }
    }
}

struct Worker {
    thread: ProbeThread,
    recorder: Arc<Recorder>,
    /// Taken when the thread has been joined.
    handle: Option<JoinHandle<Outcome>>,
    /// Of the stretches that are over.
    maxima: Maxima,
}

/// A probe at work. Dropping it stops the threads.
pub struct Running {
    interval: Ns,
    workers: Vec<Worker>,
    signals: Arc<Signals>,
    locked: bool,
    degraded: Vec<Degraded>,
    started: Ns,
}

impl Running {
    /// Lets the threads begin.
    ///
    /// Locks the process's present memory (MCL_CURRENT) until the measurement ends; memory
    /// mapped later is not locked, since the measuring threads touch none of it.
    pub fn release(&mut self) {
        self.lock_memory();
        self.started = whylate_sys::now(Clock::Monotonic);
        self.signals.go.store((self.started + LEAD).0.max(1), Relaxed);
        self.wake();
    }

    /// The measuring threads, by CPU.
    pub fn threads(&self) -> impl Iterator<Item = ProbeThread> + '_ {
        self.workers.iter().map(|worker| worker.thread)
    }

    /// What the measurement has to do without.
    pub fn degraded(&self) -> &[Degraded] {
        &self.degraded
    }

    /// The spikes since the last call, by CPU and in time order within each. To be called
    /// often enough: 1024 wait per CPU, further ones are counted only; and as many seconds' maxima.
    pub fn spikes(&mut self) -> Vec<Spike> {
        let mut spikes = Vec::new();
        let started = self.started;
        for worker in &mut self.workers {
            let ProbeThread { cpu, tid, .. } = worker.thread;
            while let Some((from, largest)) = worker.recorder.blocks.pop() {
                worker.maxima.record(from - started, largest);
            }
            while let Some((due, woken)) = worker.recorder.spikes.pop() {
                spikes.push(Spike { cpu, tid, due, woken });
            }
        }
        spikes
    }

    /// The measurement so far, for a display.
    pub fn snapshot(&self) -> Vec<CpuResult> {
        self.workers.iter().map(Worker::result).collect()
    }

    /// Ends the measurement; waits up to one interval and two seconds for the threads. One
    /// that is kept off its CPU for longer is left behind, ends when it gets to run, and
    /// its result has [`CpuResult::stuck_since`].
    ///
    /// # Errors
    /// [`ProbeError::Sys`] when a measuring thread's sleep or clock failed.
    pub fn stop(mut self) -> Result<TimerResult, ProbeError> {
        let outcomes = self.end();
        let elapsed = whylate_sys::now(Clock::Monotonic) - self.started;
        let spikes = self.spikes();
        let mut cpu_time = Ns::ZERO;
        let mut cpus = Vec::with_capacity(self.workers.len());
        for (worker, outcome) in self.workers.iter().zip(outcomes) {
            let mut result = worker.result();
            match outcome.transpose()? {
                Some(usage) => {
                    result.minor_faults = Some(usage.minor_faults);
                    result.major_faults = Some(usage.major_faults);
                    result.preemptions = Some(usage.involuntary_switches);
                    cpu_time += usage.user + usage.system;
                }
                None => result.stuck_since = Some(worker.recorder.due()),
            }
            cpus.push(result);
        }
        Ok(TimerResult { cpus, spikes, elapsed, cpu_time, degraded: std::mem::take(&mut self.degraded) })
    }

    /// Waits until every thread has its priority and CPU.
    fn await_ready(
        &mut self,
        wanted: &SchedParams,
        reports: &mpsc::Receiver<Result<Ready, Unable>>,
    ) -> Result<(), ProbeError> {
        let until = Instant::now() + READY_WITHIN;
        for _ in 0..self.workers.len() {
            match reports.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Ok(ready)) => self.note(wanted, ready),
                Ok(Err(Unable { cpu, binding: true, error })) => {
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
        let Ready { cpu, tid, sched, refused } = ready;
        if let Some(worker) = self.workers.iter_mut().find(|worker| worker.thread.cpu == cpu) {
            worker.thread = ProbeThread { cpu, tid, sched };
        }
        if let Some(error) = refused {
            let degraded = Degraded::priority(wanted, &error);
            if !self.degraded.contains(&degraded) {
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
        self.workers
            .iter()
            .filter_map(|worker| worker.handle.as_ref())
            .for_each(|handle| handle.thread().unpark());
    }

    /// Stops the threads and waits for them, within bounds: `None` for one that did not come back.
    fn end(&mut self) -> Vec<Option<Outcome>> {
        self.signals.stop.store(true, Relaxed);
        self.wake();
        let patience = self.interval + STOP_WITHIN;
        let until = Instant::now() + Duration::from_nanos(patience.0.unsigned_abs());
        let mut pause = Duration::from_micros(50);
        while self.workers.iter().any(Worker::is_alive) && Instant::now() < until {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        let outcomes = self.workers.iter_mut().map(Worker::join).collect();
        if std::mem::take(&mut self.locked) {
            // It can only fail for a process that is gone.
            let _ = whylate_sys::munlockall();
        }
        outcomes
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.workers.iter().any(|worker| worker.handle.is_some()) {
            self.end();
        }
    }
}

impl Worker {
    fn is_alive(&self) -> bool {
        self.handle.as_ref().is_some_and(|handle| !handle.is_finished())
    }

    /// The outcome of a thread that has ended.
    fn join(&mut self) -> Option<Outcome> {
        let handle = self.handle.take().filter(JoinHandle::is_finished)?;
        match handle.join() {
            Ok(outcome) => Some(outcome),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn result(&self) -> CpuResult {
        CpuResult {
            cpu: self.thread.cpu,
            tid: self.thread.tid,
            sched: self.thread.sched,
            histogram: self.recorder.histogram.snapshot(),
            maxima: self.maxima.clone(),
            missed: self.recorder.missed.load(Relaxed),
            minor_faults: None,
            major_faults: None,
            preemptions: None,
            unreported_spikes: self.recorder.spikes.dropped(),
            stuck_since: None,
        }
    }
}
