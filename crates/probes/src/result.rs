//! What a probe measured: plain data.

use crate::Degraded;
use whylate_base::{Cpu, Ns, Tid};
use whylate_stats::{Histogram, Maxima, Measured};
use whylate_sys::SchedParams;

/// A CPU and its measuring thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeThread {
    /// The CPU; where the thread is not bound to it, the one where it began.
    pub cpu: Cpu,
    /// True when it is bound to it.
    pub bound: bool,
    /// The thread.
    pub tid: Tid,
    /// The policy and priority it really has.
    pub sched: SchedParams,
}

/// One sample that was over the threshold, or among the worst of its CPU when it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spike {
    /// The CPU.
    pub cpu: Cpu,
    /// Its measuring thread.
    pub tid: Tid,
    /// When the thread was to wake, or its gap began, on CLOCK_MONOTONIC.
    pub due: Ns,
    /// When it read the clock after its sleep, or after the gap.
    pub woken: Ns,
}

impl Spike {
    /// How late it was.
    pub fn latency(&self) -> Ns {
        self.woken - self.due
    }
}

/// What only some kinds of probe count.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Counts {
    /// Nothing but the samples.
    #[default]
    None,
    /// Of [`ProbeKind::Busy`](crate::ProbeKind::Busy).
    Busy {
        /// How long the thread spun, its gaps included; their sum is the histogram's.
        watched: Ns,
    },
    /// Of [`ProbeKind::Deadline`](crate::ProbeKind::Deadline).
    Deadline {
        /// Periods whose work was not done by the deadline.
        overruns: u64,
    },
    /// Of [`ProbeKind::Hwlat`](crate::ProbeKind::Hwlat).
    Hwlat {
        /// How long its windows were in all, without the disturbed ones.
        watched: Ns,
        /// Windows in which the CPU had an interrupt or a switch: no samples.
        disturbed: u64,
    },
    /// Of [`ProbeKind::Timerlat`](crate::ProbeKind::Timerlat): the parts of the way to the sample.
    Timerlat {
        /// From when the timer was due until its interrupt.
        irq: Histogram,
        /// From when it was due until the thread ran. `None` of a kernel thread, where that is the sample.
        thread: Option<Histogram>,
        /// Activations whose events were overwritten before they were read: in no histogram.
        lost: u64,
    },
}

/// One CPU's measurement, finished or so far.
#[derive(Clone, Debug)]
pub struct CpuResult {
    /// The CPU; where the thread was not bound to it, the one where it began.
    pub cpu: Cpu,
    /// True when the thread was bound to it; else the kernel chose among those that the process may use.
    pub bound: bool,
    /// The measuring thread's id.
    pub tid: Tid,
    /// The policy and priority it really had.
    pub sched: SchedParams,
    /// What only this kind of probe counts.
    pub counts: Counts,
    /// The distribution of its latencies: woken less due.
    pub histogram: Histogram,
    /// The largest latency of each second or, of a long measurement, of each longer stretch.
    pub maxima: Maxima,
    /// Periods that passed while it was still late from an earlier one: not in the histogram.
    pub missed: u64,
    /// Page faults without I/O after the warm-up; `None` while it runs.
    pub minor_faults: Option<u64>,
    /// Page faults with I/O after the warm-up; `None` while it runs.
    pub major_faults: Option<u64>,
    /// How often another thread took the CPU from it after the warm-up; `None` while it runs.
    pub preemptions: Option<u64>,
    /// System management interrupts of the CPU in the whole time (of [`ProbeKind::Hwlat`](crate::ProbeKind::Hwlat), inside
    /// and outside of the windows). `None`: cannot tell, or while it runs.
    pub smis: Option<u64>,
    /// Spikes that came faster than they were read: counted in the histogram, but not reported.
    pub unreported_spikes: u64,
    /// The instant it should have woken at and has not, when it did not come back in time
    /// to the controller's stop: something has kept it off the CPU since then.
    pub stuck_since: Option<Ns>,
}

impl CpuResult {
    /// What it is called: the kernel chose where a thread ran that was bound to no CPU.
    pub fn name(&self) -> String {
        if self.bound { format!("CPU {}", self.cpu) } else { format!("thread {}", self.tid) }
    }

    /// As a part of a run.
    pub fn measured(&self) -> Measured {
        Measured {
            cpu: self.bound.then_some(self.cpu),
            name: self.name(),
            histogram: self.histogram.clone(),
            maxima: Some(self.maxima.clone()),
            missed: Some(self.missed),
            is_stage: false,
        }
    }
}

/// A finished measurement.
#[derive(Clone, Debug)]
pub struct ProbeResult {
    /// By CPU, ascending.
    pub cpus: Vec<CpuResult>,
    /// Spikes not yet taken by [`crate::Running::spikes`].
    pub spikes: Vec<Spike>,
    /// From the release of the measuring threads to the end.
    pub elapsed: Ns,
    /// CPU time the measuring threads and their wakers used, without the warm-up. Zero for a stuck thread.
    pub cpu_time: Ns,
    /// What the measurement had to do without.
    pub degraded: Vec<Degraded>,
}

impl ProbeResult {
    /// All CPUs' samples together.
    pub fn all(&self) -> Histogram {
        let mut all = Histogram::default();
        self.cpus.iter().for_each(|cpu| all.merge(&cpu.histogram));
        all
    }
}
