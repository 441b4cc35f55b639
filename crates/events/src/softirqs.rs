//! Softirqs by number, as the kernel names them (`include/linux/interrupt.h`, `/proc/softirqs`).

/// The names; the number of a softirq is its place.
pub const SOFTIRQ_NAMES: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// The name of a softirq; `None` for a number that is none.
pub fn softirq_name(vec: u32) -> Option<&'static str> {
    SOFTIRQ_NAMES.get(vec as usize).copied()
}
