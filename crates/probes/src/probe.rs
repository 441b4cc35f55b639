//! A probe as its controller chooses it: what to measure, where, how often.

use crate::check::Plan;
use crate::meter::Job;
use crate::recorder::{Recorder, Signals};
use crate::running::Running;
use crate::sampler::Wanted;
use crate::thread::{Place, STACK, Task, WakerTask};
use crate::timerlat::Timerlat;
use crate::worker::Worker;
use crate::{Kind, ProbeError, Timer, Waker};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use whylate_base::{Cpu, CpuSet, Ns, Policy};
use whylate_sys::{DeadlineParams, SchedParams};

/// What to measure, with one thread for each CPU.
///
/// Unlike cyclictest none of them holds `/dev/cpu_dma_latency` at 0: a wake from a deep idle
/// state takes as long as it would take for an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What a sample is.
    pub kind: Kind,
    /// The CPUs to measure; `None` for all that the calling thread may run on.
    pub cpus: Option<CpuSet>,
    /// On the first so many of these only; `None` for all. Of [`Kind::Deadline`], whose threads are not bound to CPUs,
    /// how many there are; `None` for 1.
    pub threads: Option<usize>,
    /// SCHED_FIFO, SCHED_RR or SCHED_OTHER. Not of [`Kind::Deadline`].
    pub policy: Policy,
    /// The real-time priority, 1 to 99. 80 unless chosen: above the IRQ threads' 50,
    /// below the kernel's own 99, and what most published cyclictest runs use. Not of SCHED_OTHER.
    pub priority: u32,
    /// From one wake-up (period, window, break) to the next, 10 us to 10 s.
    pub interval: Ns,
    /// By how much each further CPU's interval is longer.
    pub distance: Ns,
    /// A sample at least this late is a spike.
    pub threshold: Option<Ns>,
    /// The first such sample ends the measurement.
    pub stop_at_threshold: bool,
    /// A sample among this many worst of its CPU so far is a spike, too.
    pub worst: usize,
    /// So many samples end a thread's part of the measurement; `None` for when it is stopped.
    pub loops: Option<u64>,
    /// Measure even where that may take the whole machine.
    pub force: bool,
}

impl Default for Probe {
    fn default() -> Self {
        Probe::new(Kind::Timer(Timer::default()))
    }
}

impl Probe {
    /// How a kind is measured unless chosen otherwise: as SCHED_FIFO 80 every 1 ms, as cyclictest does; busy as
    /// SCHED_OTHER, as oslat does, with breaks every 10 ms where it needs some; hwlat as SCHED_FIFO 99 every 10 ms; timerlat
    /// as SCHED_FIFO 95 every 1 ms, as the kernel and rtla do.
    pub fn new(kind: Kind) -> Probe {
        let (policy, priority, interval) = match kind {
            Kind::Timer(_) | Kind::Ipc { .. } | Kind::Deadline { .. } => (Policy::Fifo, 80, Ns::from_ms(1)),
            Kind::Busy { .. } => (Policy::Other, 80, Ns::from_ms(10)),
            Kind::Hwlat { .. } => (Policy::Fifo, 99, Ns::from_ms(10)),
            Kind::Timerlat(_) => (Policy::Fifo, 95, Ns::from_ms(1)),
        };
        Probe {
            kind,
            cpus: None,
            threads: None,
            policy,
            priority,
            interval,
            distance: Ns::ZERO,
            threshold: None,
            stop_at_threshold: false,
            worst: 5,
            loops: None,
            force: false,
        }
    }

    /// The policy and priority that the measuring threads are to have.
    pub fn sched(&self) -> SchedParams {
        self.sched_every(self.interval)
    }

    /// The same of a thread with an interval of its own.
    fn sched_every(&self, interval: Ns) -> SchedParams {
        match (self.kind, self.policy) {
            (Kind::Deadline { runtime, deadline }, _) => SchedParams::deadline(DeadlineParams {
                runtime,
                deadline: deadline.unwrap_or(interval),
                period: interval,
            }),
            (_, Policy::Fifo) => SchedParams::fifo(self.priority),
            (_, Policy::Rr) => SchedParams::rr(self.priority),
            _ => SchedParams::OTHER,
        }
    }

    /// What happens how often: `a wake-up every 1.00 ms`.
    pub fn rhythm(&self) -> String {
        let interval = self.interval;
        match self.kind {
            Kind::Timer(_) | Kind::Ipc { .. } | Kind::Timerlat(_) => format!("a wake-up every {interval}"),
            Kind::Busy { gap, .. } => format!("gaps of {gap} and more"),
            Kind::Deadline { .. } => format!("a period every {interval}"),
            Kind::Hwlat { width } => format!("a window of {width} every {interval}"),
        }
    }

    /// What a sample is called: `wake-up`, `gap`, `period`, `window`.
    pub fn sample(&self) -> &'static str {
        match self.kind {
            Kind::Timer(_) | Kind::Ipc { .. } | Kind::Timerlat(_) => "wake-up",
            Kind::Busy { .. } => "gap",
            Kind::Deadline { .. } => "period",
            Kind::Hwlat { .. } => "window",
        }
    }

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
        let plan = Plan::of(self)?;
        let signals = Arc::new(Signals::default());
        let (report, reports) = mpsc::channel();
        // Dropped after the threads that it wakes.
        let mut timerlat = match self.kind {
            Kind::Timerlat(workload) => Some(Timerlat::start(self, workload, &plan.cpus)?),
            _ => None,
        };
        let mut running = Running::new(self.kind, Arc::clone(&signals));
        let wanted = self.wanted();
        for (nth, &cpu) in plan.cpus.iter().enumerate() {
            let place = self.place(nth, cpu, plan.cpus.len());
            let recorder = Arc::new(Recorder::new());
            let job = match &mut timerlat {
                Some(timerlat) => timerlat.add(cpu, &recorder, &signals)?,
                None => Job::new(&self.kind, plan.duty)?,
            };
            let mut worker = Worker::new(place, Arc::clone(&recorder));
            let Some(job) = job else {
                if let (Some(timerlat), Some(cpu)) = (&timerlat, cpu) {
                    let (tid, sched) = timerlat.thread(cpu, &place.sched)?;
                    running.add_kernels(worker, tid, sched);
                }
                continue;
            };
            if let (Job::Ipc(link), Kind::Ipc { waker, .. }) = (&job, self.kind) {
                let task = WakerTask {
                    nth,
                    place: self.waker_place(place, waker),
                    recorder: Arc::clone(&recorder),
                    signals: Arc::clone(&signals),
                    link: Arc::clone(link),
                };
                let report = report.clone();
                worker.waker = Some(spawn(format!("whylate/w{nth}"), cpu, move || task.run(report))?);
            }
            let task = Task { nth, place, job, wanted, recorder, signals: Arc::clone(&signals) };
            let report = report.clone();
            let name = cpu.map_or_else(|| format!("whylate/d{nth}"), |cpu| format!("whylate/{cpu}"));
            let handle = spawn(name, cpu, move || task.run(report));
            // Also when it could not be made: its waker is to be ended with the others.
            running.add(worker, handle)?;
        }
        drop(report);
        running.await_ready(&self.sched(), &reports)?;
        running.measured_by(timerlat);
        Ok(running)
    }

    /// Which samples are spikes, and when there are enough.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            threshold: self.threshold.unwrap_or(Ns::MAX),
            worst: self.worst,
            stop_at_threshold: self.stop_at_threshold,
            loops: self.loops.unwrap_or(u64::MAX),
        }
    }

    /// Where and when the `nth` of so many threads runs.
    pub(crate) fn place(&self, nth: usize, cpu: Option<Cpu>, threads: usize) -> Place {
        let turn = nth as i64;
        let interval = self.interval + Ns(self.distance.0.saturating_mul(turn));
        let phase = Ns(self.interval.0 * turn / threads as i64);
        Place { cpu, sched: self.sched_every(interval), interval, phase }
    }

    /// The waker is a little less urgent than the thread that it wakes, so that on the same CPU it is pushed aside.
    fn waker_place(&self, woken: Place, waker: Waker) -> Place {
        let cpu = match waker {
            Waker::SameCpu => woken.cpu,
            Waker::On(cpu) => Some(cpu),
        };
        let priority = woken.sched.priority;
        let priority = if priority > 1 { priority - 1 } else { priority };
        Place { cpu, sched: SchedParams { priority, ..woken.sched }, ..woken }
    }
}

/// Starts a thread that measures, or one beside it; `cpu` is where it is to run.
pub(crate) fn spawn<T: Send + 'static>(
    name: String,
    cpu: Option<Cpu>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, ProbeError> {
    std::thread::Builder::new()
        .name(name)
        .stack_size(STACK)
        .spawn(work)
        .map_err(|error| ProbeError::Thread { cpu: cpu.unwrap_or(Cpu(0)), reason: error.to_string() })
}
