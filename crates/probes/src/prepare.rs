//! Makes the measuring threads of a probe.

use crate::check::Plan;
use crate::job::Job;
use crate::recorder::{Recorder, Signals};
use crate::running::Running;
use crate::setup::ThreadSetup;
use crate::thread::{STACK, Task, WakerTask};
use crate::timerlat::Timerlat;
use crate::worker::Worker;
use crate::{Probe, ProbeError, ProbeKind, Waker};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use whylate_base::Cpu;
use whylate_sys::SchedParams;

impl Probe {
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
            ProbeKind::Timerlat(workload) => Some(Timerlat::start(self, workload, &plan.cpus)?),
            _ => None,
        };
        let mut running = Running::new(self.kind, Arc::clone(&signals));
        let wanted = self.wanted();
        for (nth, &cpu) in plan.cpus.iter().enumerate() {
            let setup = self.setup(nth, cpu, plan.cpus.len());
            let recorder = Arc::new(Recorder::new());
            let job = match &mut timerlat {
                Some(timerlat) => {
                    let interface = timerlat.add(cpu, &recorder, &signals)?;
                    interface.zip(cpu).map(|(interface, cpu)| Job::Timerlat { interface, cpu })
                }
                None => Job::new(&self.kind, plan.duty)?,
            };
            let mut worker = Worker::new(setup, Arc::clone(&recorder));
            let Some(job) = job else {
                if let (Some(timerlat), Some(cpu)) = (&timerlat, cpu) {
                    let (tid, sched) = timerlat.thread(cpu, &setup.sched)?;
                    running.add_kernels(worker, tid, sched);
                }
                continue;
            };
            if let (Job::Ipc(link), ProbeKind::Ipc { waker, .. }) = (&job, self.kind) {
                let task = WakerTask {
                    nth,
                    setup: waker_setup(setup, waker),
                    recorder: Arc::clone(&recorder),
                    signals: Arc::clone(&signals),
                    link: Arc::clone(link),
                };
                let report = report.clone();
                worker.waker = Some(spawn(format!("whylate/w{nth}"), cpu, move || task.run(report))?);
            }
            let task = Task { nth, setup, job, wanted, recorder, signals: Arc::clone(&signals) };
            let report = report.clone();
            let name = cpu.map_or_else(|| format!("whylate/d{nth}"), |cpu| format!("whylate/{cpu}"));
            let handle = spawn(name, cpu, move || task.run(report));
            // Also when it could not be made: its waker must end with the others.
            running.add(worker, handle)?;
        }
        drop(report);
        running.await_ready(&self.sched(), &reports)?;
        running.measured_by(timerlat);
        Ok(running)
    }
}

/// The waker is a little less urgent than the thread that it wakes, so that on the same CPU it is pushed aside.
fn waker_setup(woken: ThreadSetup, waker: Waker) -> ThreadSetup {
    let cpu = match waker {
        Waker::SameCpu => woken.cpu,
        Waker::On(cpu) => Some(cpu),
    };
    let priority = woken.sched.priority;
    let priority = if priority > 1 { priority - 1 } else { priority };
    ThreadSetup { cpu, sched: SchedParams { priority, ..woken.sched }, ..woken }
}

/// Starts a thread that measures, or one beside it; `cpu` is where it is to run.
fn spawn<T: Send + 'static>(
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
