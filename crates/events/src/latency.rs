//! Latencies that another program measured: what the kernel's latency tracers and `rtla` report of the one they
//! kept a trace for.

use whylate_base::{Comm, Cpu, Ns, Policy, Tid};

/// A latency tracer's own account of its trace (the `#` lines of its file,
/// Documentation/trace/ftrace.rst).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyTrace {
    /// Which tracer.
    pub tracer: LatencyTracer,
    /// The latency it measured.
    pub latency: Ns,
    /// Where.
    pub cpu: Cpu,
    /// Whom it names: the woken thread, or the one that was current.
    pub task: Option<LatencyTask>,
    /// The function in which the critical section began.
    pub started_at: Option<String>,
    /// The function in which it ended.
    pub ended_at: Option<String>,
    /// How many entries the tracer had printed (`#54/54`), where the header has it: a file with far fewer
    /// lines is an excerpt.
    pub entries: Option<u64>,
    /// The line after which the next one took longest to come, by the tracer's own mark.
    pub marked: Option<MarkedLine>,
}

/// A line with a mark behind its time (`57us!`): the next line that the tracer printed came late
/// (`mark`, kernel/trace/trace_output.c). An excerpt keeps it where that line is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkedLine {
    /// The line's time.
    pub at: Ns,
    /// So much later, at least.
    pub least: Ns,
}

/// The kernel's latency tracers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyTracer {
    /// From a wake-up of the highest-priority thread, of any class, to its switch.
    Wakeup,
    /// The same of real-time threads only.
    WakeupRt,
    /// The same of SCHED_DEADLINE threads only.
    WakeupDl,
    /// Interrupts off.
    Irqsoff,
    /// Preemption off.
    Preemptoff,
    /// Either off.
    Preemptirqsoff,
}

impl LatencyTracer {
    /// As `current_tracer` names it.
    pub fn name(self) -> &'static str {
        match self {
            LatencyTracer::Wakeup => "wakeup",
            LatencyTracer::WakeupRt => "wakeup_rt",
            LatencyTracer::WakeupDl => "wakeup_dl",
            LatencyTracer::Irqsoff => "irqsoff",
            LatencyTracer::Preemptoff => "preemptoff",
            LatencyTracer::Preemptirqsoff => "preemptirqsoff",
        }
    }

    /// The tracer of that name, in capitals or not: patches that never were merged wrote `wakeup_RT`.
    pub fn from_name(name: &str) -> Option<LatencyTracer> {
        use LatencyTracer::*;
        [Wakeup, WakeupRt, WakeupDl, Irqsoff, Preemptoff, Preemptirqsoff]
            .into_iter()
            .find(|tracer| tracer.name().eq_ignore_ascii_case(name))
    }

    /// True for those that measure a wake-up, false for those that measure a critical section.
    pub fn is_wakeup(self) -> bool {
        matches!(self, LatencyTracer::Wakeup | LatencyTracer::WakeupRt | LatencyTracer::WakeupDl)
    }
}

/// `| task: cyclictest-12905 (uid:0 nice:0 policy:1 rt_prio:80)`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyTask {
    /// The thread.
    pub tid: Tid,
    /// Its name.
    pub comm: Comm,
    /// Its policy.
    pub policy: Option<Policy>,
    /// 1 to 99 as the user sees it; 0 when not real-time.
    pub rt_priority: u32,
}

/// One latency that another tool has taken apart: `rtla`'s auto-analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakdown {
    /// Whose analysis it is.
    pub tool: Tool,
    /// Where; [`Cpu::UNKNOWN`] where the line that has it is missing.
    pub cpu: Cpu,
    /// The latency in all; of one that is cut, what its parts took together, which is the least that it was.
    pub total: Ns,
    /// True where the text ends before the line that has the total.
    pub is_cut: bool,
    /// What it consists of, in the file's order; it need not add up.
    pub parts: Vec<BreakdownPart>,
    /// The blocking thread's stack, innermost first, where there is one.
    pub stack: Vec<String>,
    /// The line of the file it begins at.
    pub line: u64,
}

impl Breakdown {
    /// A latency of which nothing but its length is known.
    pub fn new(tool: Tool, cpu: Cpu, total: Ns, line: u64) -> Breakdown {
        Breakdown { tool, cpu, total, is_cut: false, parts: Vec::new(), stack: Vec::new(), line }
    }

    /// The first part of a kind.
    pub fn part(&self, kind: PartKind) -> Option<&BreakdownPart> {
        self.parts.iter().find(|part| part.kind == kind)
    }

    /// How long that part took.
    pub fn time_of(&self, kind: PartKind) -> Option<Ns> {
        self.part(kind).map(|part| part.time)
    }

    /// True of a whole row of osnoise of a CPU that lost no time.
    pub fn is_without_noise(&self) -> bool {
        let noises = [PartKind::Noise, PartKind::LargestNoise].map(|kind| self.time_of(kind));
        self.tool == Tool::RtlaOsnoise
            && !self.is_cut
            && self.total <= Ns::ZERO
            && noises.into_iter().flatten().all(|time| time <= Ns::ZERO)
    }
}

/// The program that made a [`Breakdown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `rtla timerlat` with auto-analysis: the latency of a timer's thread (or of its interrupt alone).
    RtlaTimerlat,
    /// `rtla timerlat top`: a CPU's row, with the largest latencies of the interrupt and of the thread, which need not
    /// be of one sample.
    RtlaTimerlatTop,
    /// `rtla osnoise`: one noise of a spinning thread.
    RtlaOsnoise,
    /// `hwlatdetect`: the longest gap of a CPU that spins with interrupts off; zero where it was below the threshold. The
    /// CPU is reported with the sample, by newer versions.
    Hwlatdetect,
}

/// One part of a [`Breakdown`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakdownPart {
    /// What took the time.
    pub kind: PartKind,
    /// Its name: a thread's, an interrupt's; empty for a sum.
    pub name: String,
    /// The thread's id, or the interrupt's number; of what a tool only counts, how many there were.
    pub id: Option<u32>,
    /// How long.
    pub time: Ns,
    /// True when the parts of the same kind behind it are listed within it.
    pub is_sum: bool,
}

/// The words of rtla's analysis (`tools/tracing/rtla/src/timerlat_aa.c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartKind {
    /// From the timer's expiry to the interrupt's first instruction: interrupts disabled, idle exit, or hardware.
    IrqDelay,
    /// From the expiry to the sample in the interrupt.
    IrqLatency,
    /// The timer interrupt's own handler.
    TimerIrq,
    /// The thread that ran on until it could be preempted.
    BlockingThread,
    /// NMIs meanwhile.
    Nmi,
    /// Other hard interrupts meanwhile.
    Irq,
    /// Softirqs meanwhile.
    Softirq,
    /// Other threads meanwhile.
    Thread,
    /// Noise of which no source was seen: hardware.
    Hardware,
    /// System management interrupts that were counted meanwhile: their number is the part's id.
    Smi,
    /// In a row of a table: the mean latency of the interrupt.
    MeanIrqLatency,
    /// The same of the thread.
    MeanThreadLatency,
    /// For how long was measured.
    Measured,
    /// In a row of osnoise: the noise in all, and in how many periods, which is the part's id. The interferences of such a row have
    /// their number as id, and no time.
    Noise,
    /// The same of the period with the most noise.
    LargestNoise,
    /// Samples above the threshold: their number is the part's id, and the threshold its time.
    AboveThreshold,
}

#[cfg(test)]
mod tests {
    use super::LatencyTracer;

    #[test]
    fn a_tracer_is_known_in_capitals_too() {
        for (name, tracer) in [
            ("wakeup_RT", Some(LatencyTracer::WakeupRt)),
            ("IRQsoff", Some(LatencyTracer::Irqsoff)),
            ("function", None),
        ] {
            assert_eq!(LatencyTracer::from_name(name), tracer, "{name}");
        }
    }
}
