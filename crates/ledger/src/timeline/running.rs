//! What has a CPU: a thread, or an interrupt on top of it.

use super::irqs::IrqId;
use whylate_base::{Priority, Tid};

/// What a CPU runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Running {
    Unknown,
    Idle,
    Task(Tid, Priority),
    Irq(IrqId),
    Softirq(u32),
    Nmi,
}

impl Running {
    /// A thread, or the idle task.
    pub(crate) fn thread(tid: Tid, priority: Priority) -> Running {
        if tid.is_idle() { Running::Idle } else { Running::Task(tid, priority) }
    }
}
