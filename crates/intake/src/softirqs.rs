//! Softirqs by number, as the kernel names them (`include/linux/interrupt.h`).

const NAMES: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// Empty for a number that is none.
pub(crate) fn softirq_name(vector: u32) -> &'static str {
    NAMES.get(vector as usize).copied().unwrap_or("")
}
