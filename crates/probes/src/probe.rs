//! A probe as its controller chooses it: what to measure, where, how often.

use crate::sampler::Wanted;
use crate::setup::ThreadSetup;
use crate::{ProbeKind, Timer};
use whylate_base::{Cpu, CpuSet, Ns, Policy};
use whylate_sys::{DeadlineParams, SchedParams};

/// What to measure, with one thread for each CPU.
///
/// Unlike cyclictest none of them holds `/dev/cpu_dma_latency` at 0: a wake from a deep idle
/// state takes as long as it would take for an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What a sample is.
    pub kind: ProbeKind,
    /// The CPUs to measure; `None` for all that the calling thread may run on.
    pub cpus: Option<CpuSet>,
    /// On the first so many of these only; `None` for all. Of [`ProbeKind::Deadline`], whose threads are not bound to CPUs,
    /// how many there are; `None` for 1.
    pub threads: Option<usize>,
    /// SCHED_FIFO, SCHED_RR or SCHED_OTHER. Not of [`ProbeKind::Deadline`].
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
        Probe::new(ProbeKind::Timer(Timer::default()))
    }
}

impl Probe {
    /// How a kind is measured unless chosen otherwise: as SCHED_FIFO 80 every 1 ms, as cyclictest does; busy as
    /// SCHED_OTHER, as oslat does, with breaks every 10 ms where it needs some; hwlat as SCHED_FIFO 99 every 10 ms; timerlat
    /// as SCHED_FIFO 95 every 1 ms, as the kernel and rtla do.
    pub fn new(kind: ProbeKind) -> Probe {
        let (policy, priority, interval) = match kind {
            ProbeKind::Timer(_) | ProbeKind::Ipc { .. } | ProbeKind::Deadline { .. } => {
                (Policy::Fifo, 80, Ns::from_ms(1))
            }
            ProbeKind::Busy { .. } => (Policy::Other, 80, Ns::from_ms(10)),
            ProbeKind::Hwlat { .. } => (Policy::Fifo, 99, Ns::from_ms(10)),
            ProbeKind::Timerlat(_) => (Policy::Fifo, 95, Ns::from_ms(1)),
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
            (ProbeKind::Deadline { runtime, deadline }, _) => SchedParams::deadline(DeadlineParams {
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
            ProbeKind::Timer(_) | ProbeKind::Ipc { .. } | ProbeKind::Timerlat(_) => {
                format!("a wake-up every {interval}")
            }
            ProbeKind::Busy { gap, .. } => format!("gaps of {gap} and more"),
            ProbeKind::Deadline { .. } => format!("a period every {interval}"),
            ProbeKind::Hwlat { width } => format!("a window of {width} every {interval}"),
        }
    }

    /// What a sample is called: `wake-up`, `gap`, `period`, `window`.
    pub fn sample(&self) -> &'static str {
        match self.kind {
            ProbeKind::Timer(_) | ProbeKind::Ipc { .. } | ProbeKind::Timerlat(_) => "wake-up",
            ProbeKind::Busy { .. } => "gap",
            ProbeKind::Deadline { .. } => "period",
            ProbeKind::Hwlat { .. } => "window",
        }
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
    pub(crate) fn setup(&self, nth: usize, cpu: Option<Cpu>, threads: usize) -> ThreadSetup {
        let turn = nth as i64;
        let interval = self.interval + Ns(self.distance.0.saturating_mul(turn));
        let phase = Ns(self.interval.0 * turn / threads as i64);
        ThreadSetup { cpu, sched: self.sched_every(interval), interval, phase }
    }
}
