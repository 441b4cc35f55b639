//! What the kernel records with every event: the current thread, and how interruptible it was.

use std::fmt;
use whylate_base::Tid;

/// The common fields of an event (`common_pid`, `common_flags`, `common_preempt_count`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The thread that was current on the CPU, also when an interrupt handler ran.
    pub tid: Tid,
    /// Interrupt state.
    pub flags: ContextFlags,
    /// Preemption depth; `None` where the source has no such column.
    pub preempt_depth: Option<u8>,
}

impl Context {
    /// True where the source has the current thread alone: whether an interrupt had come upon it is not known.
    pub fn is_unknown(&self) -> bool {
        self.flags == ContextFlags::IRQS_UNKNOWN && self.preempt_depth.is_none()
    }
}

/// `common_flags` (`enum trace_flag_type`, `include/linux/trace_events.h`): the lower 8 bits mean what they do
/// since Linux 6.13. Those of an earlier kernel are put where they belong when they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextFlags(pub u16);

impl ContextFlags {
    /// Interrupts were off.
    pub const IRQS_OFF: ContextFlags = ContextFlags(0x01);
    /// TIF_NEED_RESCHED_LAZY was set: the current thread is to yield when it next leaves the kernel.
    pub const NEED_RESCHED_LAZY: ContextFlags = ContextFlags(0x02);
    /// TIF_NEED_RESCHED was set.
    pub const NEED_RESCHED: ContextFlags = ContextFlags(0x04);
    /// In a hard interrupt handler.
    pub const HARDIRQ: ContextFlags = ContextFlags(0x08);
    /// In a softirq.
    pub const SOFTIRQ: ContextFlags = ContextFlags(0x10);
    /// The preemption counter's own mark of a thread that is to yield was set (x86, s390).
    pub const PREEMPT_RESCHED: ContextFlags = ContextFlags(0x20);
    /// In a non-maskable interrupt.
    pub const NMI: ContextFlags = ContextFlags(0x40);
    /// Softirqs were off (since Linux 5.18).
    pub const SOFTIRQS_OFF: ContextFlags = ContextFlags(0x80);
    /// The architecture or the source does not state whether interrupts were off.
    pub const IRQS_UNKNOWN: ContextFlags = ContextFlags(0x100);
    /// The current thread had the CPU, and what made the event is not known: another line states that it happened.
    pub const BYSTANDER: ContextFlags = ContextFlags(0x200);

    /// True when all bits of `other` are set.
    pub fn contains(self, other: ContextFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// True when any bit of `other` is set.
    pub fn intersects(self, other: ContextFlags) -> bool {
        self.0 & other.0 != 0
    }

    /// True when interrupts are known to have been off.
    pub fn irqs_off(self) -> bool {
        self.contains(Self::IRQS_OFF) && !self.contains(Self::IRQS_UNKNOWN)
    }

    /// True in an interrupt or softirq, where the current thread is a bystander.
    pub fn in_interrupt(self) -> bool {
        self.intersects(Self::HARDIRQ | Self::SOFTIRQ | Self::NMI)
    }
}

impl std::ops::BitOr for ContextFlags {
    type Output = ContextFlags;
    fn bitor(self, other: ContextFlags) -> ContextFlags {
        ContextFlags(self.0 | other.0)
    }
}

/// As the first three columns of ftrace's latency format: `dNh`, `..s`.
impl fmt::Display for ContextFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let irqs = if self.contains(Self::IRQS_UNKNOWN) {
            'X'
        } else if self.contains(Self::IRQS_OFF) {
            'd'
        } else {
            '.'
        };
        let resched = if self.contains(Self::NEED_RESCHED) { 'N' } else { '.' };
        let handler = match (self.contains(Self::HARDIRQ), self.contains(Self::SOFTIRQ)) {
            (true, true) => 'H',
            (true, false) => 'h',
            (false, true) => 's',
            (false, false) => '.',
        };
        write!(f, "{irqs}{resched}{handler}")
    }
}
