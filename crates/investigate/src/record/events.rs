//! Which events are recorded unless the user adds some: what the ledger charges time by.

/// Of every thread, on every CPU. Without the first there is no ledger at all.
pub(super) const MAIN: &[&str] = &[
    "sched:sched_switch",
    "sched:sched_waking",
    "sched:sched_wakeup",
    "sched:sched_wakeup_new",
    "sched:sched_migrate_task",
    "sched:sched_process_fork",
    "sched:sched_process_exec",
    "sched:sched_process_exit",
    "sched:sched_pi_setprio",
    "irq:irq_handler_entry",
    "irq:irq_handler_exit",
    "irq:softirq_raise",
    "irq:softirq_entry",
    "irq:softirq_exit",
    "timer:hrtimer_start",
    "timer:hrtimer_cancel",
    "timer:hrtimer_expire_entry",
    "timer:hrtimer_expire_exit",
    "lock:contention_begin",
    "lock:contention_end",
    "nmi:nmi_handler",
    "signal:signal_generate",
    "power:cpu_idle",
    "power:cpu_frequency",
];

/// The same of a guest's host: which threads had the CPUs, and why. Each costs as little as it can while the guest runs.
pub(super) const OF_HOST: &[&str] = &[
    "sched:sched_switch",
    "sched:sched_waking",
    "sched:sched_wakeup",
    "sched:sched_wakeup_new",
    "sched:sched_migrate_task",
    "sched:sched_process_exit",
    "sched:sched_pi_setprio",
    "irq:irq_handler_entry",
    "irq:irq_handler_exit",
    "irq:softirq_entry",
    "irq:softirq_exit",
];

/// When a guest's CPUs execute its code; of a host that has KVM loaded.
pub(super) const KVM: &[&str] = &["kvm:kvm_entry", "kvm:kvm_exit"];

/// What links one thread, device or CPU with the next. Older kernels and those without a network lack some of them.
pub(super) const CHAINS: &[&str] = &[
    "napi:napi_poll",
    "net:net_dev_queue",
    "net:net_dev_xmit",
    "net:netif_rx",
    "net:netif_receive_skb",
    "skb:skb_copy_datagram_iovec",
    "workqueue:workqueue_queue_work",
    "workqueue:workqueue_execute_start",
    "workqueue:workqueue_execute_end",
    "ipi:ipi_send_cpu",
];

/// x86's own interrupts: the entry and exit event of each. Which there are depends on how
/// the kernel was built, so one that is missing is nothing to report.
pub(super) const VECTORS: &[&str] = &[
    "local_timer",
    "reschedule",
    "call_function",
    "call_function_single",
    "irq_work",
    "thermal_apic",
    "threshold_apic",
    "deferred_error_apic",
    "error_apic",
    "spurious_apic",
];

/// System calls that change how a thread is scheduled, or how the clock runs: rare, and useful whichever thread makes them.
pub(super) const SCHEDULING_CALLS: &[&str] = &[
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "sched_setaffinity",
    "mlock",
    "mlock2",
    "mlockall",
    "munlockall",
    "adjtimex",
    "clock_adjtime",
];

/// Of the chosen threads only: too many of every thread's.
pub(crate) const THREADS: &[&str] = &[
    "raw_syscalls:sys_enter",
    "raw_syscalls:sys_exit",
    "exceptions:page_fault_user",
    "exceptions:page_fault_kernel",
];

/// Those of page faults, which not every architecture has: arm64 has none.
pub(super) const PAGE_FAULTS: &[&str] = &["exceptions:page_fault_user", "exceptions:page_fault_kernel"];

/// The main buffer's events that depend on the architecture or on options of the kernel,
/// by the group they come from.
pub(super) fn optional_groups() -> [(&'static str, Vec<String>); 2] {
    let pairs = |group: &str, names: &[&str], [before, after]: [[&str; 2]; 2]| {
        names
            .iter()
            .flat_map(|name| [0, 1].map(|i| format!("{group}:{}{name}{}", before[i], after[i])))
            .collect::<Vec<_>>()
    };
    [
        ("irq_vectors", pairs("irq_vectors", VECTORS, [["", ""], ["_entry", "_exit"]])),
        ("syscalls", pairs("syscalls", SCHEDULING_CALLS, [["sys_enter_", "sys_exit_"], ["", ""]])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_named_as_the_kernel_names_them() {
        let [(_, vectors), (_, calls)] = optional_groups();
        assert_eq!(vectors[..2], ["irq_vectors:local_timer_entry", "irq_vectors:local_timer_exit"]);
        assert_eq!(
            calls[..2],
            ["syscalls:sys_enter_sched_setscheduler", "syscalls:sys_exit_sched_setscheduler"]
        );
    }
}
