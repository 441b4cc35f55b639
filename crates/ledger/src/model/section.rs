//! A critical section: plain data for the renderers.

use crate::model::culprit::Culprit;
use whylate_base::{Confidence, Cpu, Ns};
use whylate_events::LatencyTracer;

/// An interval in which a CPU had interrupts off, or could not switch threads, as `irqsoff`, `preemptoff`
/// and `preemptirqsoff` measure it. A thread that became due in it was late by up to its length.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalSection {
    /// The tracer: it shows what was off.
    pub tracer: LatencyTracer,
    /// The CPU.
    pub cpu: Cpu,
    /// The thread that was current; an interrupt or a softirq only interrupted it.
    pub thread: Option<Culprit>,
    /// Whose section it is: the thread's, an interrupt's, or that of a softirq at the end of an interrupt.
    pub context: CpuContext,
    /// False where it delays no thread: an idle CPU sleeps with interrupts disabled, and a spin for a lock stops when
    /// another thread is to run.
    pub delays: bool,
    /// The function in which it began.
    pub opened_by: Option<String>,
    /// The function in which it ended.
    pub closed_by: Option<String>,
    /// When it began, by the first line of the trace.
    pub start: Ns,
    /// How long it was, by the tracer.
    pub latency: Ns,
    /// Where the time went, the most first. With `rest` and `unexplained` it adds up to `latency` exactly.
    pub parts: Vec<FunctionTime>,
    /// The time of functions that are not listed.
    pub rest: Ns,
    /// The time that no line shows.
    pub unexplained: Ns,
    /// What a part's time is.
    pub times: FunctionTimes,
    /// The longest intervals without any line, longest first.
    pub gaps: Vec<Gap>,
    /// The stack at its end, innermost function first, where there is one.
    pub stack: Vec<String>,
    /// How sure it is where the time went.
    pub confidence: Confidence,
    /// One sentence.
    pub why: String,
    /// What to do, best first.
    pub fix: Vec<String>,
}

/// What the time of a [`FunctionTime`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionTimes {
    /// The function's own, without those it called (function graph).
    Own,
    /// From its entry to that of the next function, which may be its caller's work (function tracer).
    UntilNext,
    /// No functions were traced within the section.
    None,
}

/// What one function took of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTime {
    /// The function.
    pub function: String,
    /// In which context.
    pub within: CpuContext,
    /// How long in all.
    pub time: Ns,
    /// How often it was entered.
    pub calls: u64,
}

/// In which context a CPU executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CpuContext {
    /// The current thread's.
    Thread,
    /// A softirq's.
    Softirq,
    /// A hard interrupt's.
    Irq,
}

impl CpuContext {
    /// `thread`, `softirq` or `irq`.
    pub fn name(self) -> &'static str {
        match self {
            CpuContext::Thread => "thread",
            CpuContext::Softirq => "softirq",
            CpuContext::Irq => "irq",
        }
    }
}

/// An interval without any line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Where it begins.
    pub start: Ns,
    /// How long it is.
    pub length: Ns,
    /// The function of the line before; empty where that was no function.
    pub after: String,
    /// The function of the line behind; empty where that is none.
    pub before: String,
}
