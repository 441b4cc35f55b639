//! Softirqs by number, as the kernel names them (`include/linux/interrupt.h`, `/proc/softirqs`).

/// The names; the number of a softirq is its place.
pub const SOFTIRQ_NAMES: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// The name of a softirq; `None` for a number that is none.
pub fn softirq_name(vec: u32) -> Option<&'static str> {
    SOFTIRQ_NAMES.get(vec as usize).copied()
}

/// Their functions, by number (`open_softirq()` in `kernel/`, `net/core/dev.c`, `block/blk-mq.c`).
const FUNCTIONS: [(&str, u32); 14] = [
    ("tasklet_hi_action", 0),
    ("run_timer_softirq", 1),
    ("net_tx_action", 2),
    ("net_rx_action", 3),
    ("blk_done_softirq", 4),
    ("irq_poll_softirq", 5),
    ("blk_iopoll_softirq", 5),
    ("tasklet_action", 6),
    ("run_rebalance_domains", 7),
    ("sched_balance_softirq", 7),
    ("hrtimer_run_softirq", 8),
    ("rcu_core_si", 9),
    ("rcu_core", 9),
    ("rcu_process_callbacks", 9),
];

/// The number of the softirq that this function of the kernel is; `None` of any other.
pub fn softirq_of(function: &str) -> Option<u32> {
    FUNCTIONS.iter().find(|(name, _)| *name == function).map(|&(_, vec)| vec)
}
