//! One thread's wait on one runqueue.

use crate::timeline::cpus::CpuTimeline;
use crate::timeline::thread::Thread;
use whylate_base::{Cpu, Ns, SchedClass};

/// The kernel's own path from wake-up to switch is some microseconds, more where the tracer watches.
pub(super) const ORDINARY_DISPATCH: Ns = Ns::from_us(20);
/// A lower thread that was switched in for less may have been chosen just before the wake-up.
pub(super) const PASSED_OVER: Ns = Ns::from_us(50);

/// Whether a thread that waits is on the runqueue of a CPU. Only from those that are does the scheduler choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queued {
    Here,
    /// Its wake-up has begun, and the CPU has yet to take it in by an interrupt (`ttwu_queue_wakelist`,
    /// `kernel/sched/core.c`).
    NotYet,
    /// There, or on another one: it was moved and that was not recorded, or it may have been.
    Somewhere,
}

/// The wait of one thread on one runqueue.
pub(super) struct Queue<'a> {
    pub(super) waiter: &'a Thread,
    pub(super) cpu: Cpu,
    pub(super) timeline: &'a CpuTimeline,
    pub(super) from: Ns,
    pub(super) to: Ns,
    /// The scheduler's first choice after the wait began.
    pub(super) first_choice: Ns,
    /// The idle task settled down again meanwhile, which it never does with a thread it may run.
    pub(super) idled_on: bool,
    pub(super) queued: Queued,
}

impl Queue<'_> {
    /// The class in which the waiter was scheduled at an instant.
    pub(super) fn class_at(&self, instant: Ns) -> SchedClass {
        self.waiter.priority_at(instant).class()
    }
}
