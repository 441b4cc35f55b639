//! What the tracers of the kernel write into their events: timerlat, osnoise, preemptirq.

use crate::names::Name;
use whylate_base::Ns;

/// What a section of the kernel disables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preemptirq {
    /// Hard interrupts of its CPU.
    Interrupts,
    /// Preemption by other threads.
    Preemption,
}

/// A sample of the timerlat tracer (`kernel/trace/trace_osnoise.c`): how late after the timer's expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timerlat {
    /// The sample's number; the same for each context of one period.
    pub seq: u32,
    /// Where it was taken.
    pub context: TimerlatContext,
    /// From the timer's expiry to there.
    pub latency: Ns,
}

/// Where a timerlat sample is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerlatContext {
    /// In the timer's interrupt.
    Irq,
    /// In the thread it woke.
    Thread,
    /// On that thread's return to user space (`ret`, 6.5).
    UserReturn,
}

/// An interference, as the osnoise tracer reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    /// Of what kind.
    pub source: NoiseSource,
    /// The handler's, softirq's or thread's name; empty for an NMI.
    pub name: Name,
    /// The interrupt's vector, the softirq's number, or the thread's id; 0 for an NMI.
    pub id: u32,
    /// When it began, on the trace clock.
    pub start: Ns,
    /// How long it took, without what interrupted it.
    pub duration: Ns,
}

/// What interfered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoiseSource {
    /// `nmi_noise`
    Nmi,
    /// `irq_noise`
    Irq,
    /// `softirq_noise`
    Softirq,
    /// `thread_noise`
    Thread,
}

/// A period's summary by the osnoise tracer (Documentation/trace/osnoise-tracer.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OsnoiseSample {
    /// How long its thread looked for noise.
    pub runtime: Ns,
    /// How much of that it did not have the CPU.
    pub noise: Ns,
    /// The longest single noise.
    pub max_sample: Ns,
    /// Noises without any interference the kernel saw: hardware.
    pub hw_count: u32,
    /// NMIs.
    pub nmi_count: u32,
    /// Hard interrupts.
    pub irq_count: u32,
    /// Softirqs.
    pub softirq_count: u32,
    /// Threads.
    pub thread_count: u32,
}
