//! A measuring thread as its controller has it: what it shares, how it ends, what it has measured.

use crate::block::BLOCK;
use crate::recorder::Recorder;
use crate::setup::ThreadSetup;
use crate::thread::ThreadResult;
use crate::{Counts, CpuResult, ProbeKind, ProbeThread};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use whylate_base::{Cpu, Ns, Tid};
use whylate_stats::Maxima;
use whylate_sys::SchedParams;

/// One measuring thread with its waker, if it has one.
pub(crate) struct Worker {
    pub(crate) thread: ProbeThread,
    pub(crate) interval: Ns,
    pub(crate) recorder: Arc<Recorder>,
    /// Taken when the thread has been joined.
    pub(crate) handle: Option<JoinHandle<ThreadResult>>,
    pub(crate) waker: Option<JoinHandle<ThreadResult>>,
    /// Of the stretches that are over.
    pub(crate) maxima: Maxima,
    /// The CPU's system management interrupts when it began.
    pub(crate) smis: Option<u32>,
}

impl Worker {
    /// One without threads yet.
    pub(crate) fn new(setup: ThreadSetup, recorder: Arc<Recorder>) -> Worker {
        let thread = ProbeThread {
            cpu: setup.cpu.unwrap_or(Cpu(0)),
            bound: setup.cpu.is_some(),
            tid: Tid(0),
            sched: SchedParams::OTHER,
        };
        let (interval, maxima) = (setup.interval, Maxima::new(BLOCK));
        Worker { thread, interval, recorder, handle: None, waker: None, maxima, smis: None }
    }

    /// Its threads, as long as they are not joined.
    pub(crate) fn handles(&self) -> impl Iterator<Item = &JoinHandle<ThreadResult>> {
        self.handle.iter().chain(&self.waker)
    }

    /// Joins those that have ended, and lets the others go.
    pub(crate) fn join(&mut self) -> Ended {
        let had_thread = self.handle.is_some();
        Ended { had_thread, outcome: join(&mut self.handle), waker: join(&mut self.waker) }
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.handles().any(|handle| !handle.is_finished())
    }

    /// What it has measured by now.
    pub(crate) fn result(&self, kind: &ProbeKind) -> CpuResult {
        let recorder = &self.recorder;
        let watched = Ns(recorder.watched.load(Relaxed));
        let spoilt = recorder.spoilt.load(Relaxed);
        CpuResult {
            cpu: self.thread.cpu,
            bound: self.thread.bound,
            tid: self.thread.tid,
            sched: self.thread.sched,
            counts: match kind {
                // Timerlat's are not the worker's.
                ProbeKind::Timer(_) | ProbeKind::Ipc { .. } | ProbeKind::Timerlat(_) => Counts::None,
                ProbeKind::Busy { .. } => Counts::Busy { watched },
                ProbeKind::Deadline { .. } => Counts::Deadline { overruns: spoilt },
                ProbeKind::Hwlat { .. } => Counts::Hwlat { watched, disturbed: spoilt },
            },
            histogram: recorder.histogram.snapshot(),
            maxima: self.maxima.clone(),
            missed: recorder.missed.load(Relaxed),
            minor_faults: None,
            major_faults: None,
            preemptions: None,
            smis: None,
            unreported_spikes: recorder.spikes.dropped(),
            stuck_since: None,
        }
    }
}

/// How a worker ended: no outcome of a thread that did not come back.
pub(crate) struct Ended {
    /// False of one whose thread is the kernel's.
    pub(crate) had_thread: bool,
    pub(crate) outcome: Option<ThreadResult>,
    pub(crate) waker: Option<ThreadResult>,
}

/// The outcome of a thread that has ended.
fn join(handle: &mut Option<JoinHandle<ThreadResult>>) -> Option<ThreadResult> {
    match handle.take().filter(JoinHandle::is_finished)?.join() {
        Ok(outcome) => Some(outcome),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
