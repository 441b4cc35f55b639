//! The kernel's own threads, by name: a trace shows no parent.
//!
//! The names are those of kernels from 2008 on; `sirq-timer/0`, `IRQ-8` and `posix_cpu_timer` are of PREEMPT_RT before
//! 2.6.33. Some text formats print the first 8 characters of a name (`%8.8s`, `kernel/trace/trace_output.c`):
//! `migratio-42`.

/// The threads of the stop class.
const STOPPERS: [&str; 2] = ["migration/", "stopper/"];
/// The threads that run softirqs, and with them the callbacks of timers.
const SOFTIRQ_THREADS: [&str; 5] = ["ktimers/", "ksoftirqd/", "ktimersoftd/", "sirq-timer/", "sirq-hrtimer/"];

/// The threads of NAPI: of a device's queue, and of the packets that other CPUs hand over (`net/core/dev.c`).
const NAPI_THREADS: [&str; 2] = ["napi/", "backlog_napi/"];

/// Real-time threads of the kernel itself. They are real-time so that they serve others, and being late is their normal
/// life.
pub fn is_housekeeping(comm: &str) -> bool {
    const PER_CPU: [&str; 8] =
        ["rcuc/", "rcub/", "rcuop/", "rcuog/", "rcuos/", "cpuhp/", "irq_work/", "idle_inject/"];
    const PREFIXES: [&str; 7] = ["irq/", "IRQ-", "rcu_", "sirq-", "sugov:", "kworker/", "posixcputmr"];
    const NAMES: [&str; 6] = ["oom_reaper", "khungtaskd", "watchdogd", "psimon", "hwlatd", "posix_cpu_timer"];
    is_stopper(comm)
        || runs_softirqs(comm)
        || polls_network(comm)
        || PER_CPU.iter().chain(&PREFIXES).chain(&NAMES[5..]).any(|prefix| begins_with(comm, prefix))
        // A daemon is called watchdog: cut off, the names are the same.
        || comm.starts_with("watchdog/")
        || NAMES.contains(&comm)
}

/// True of the kernel's threads of RCU, which end its grace periods and run its callbacks (`kernel/rcu/tree.c`).
pub(crate) fn serves_rcu(comm: &str) -> bool {
    const THREADS: [&str; 6] = ["rcu_", "rcuc/", "rcub/", "rcuop/", "rcuog/", "rcuos/"];
    THREADS.iter().any(|begin| begins_with(comm, begin))
}

/// The names, or how they begin, of the kernel's other threads: those of drivers, file systems and memory management.
const OTHERS: [&str; 34] = [
    "kthreadd",
    "kswapd",
    "kcompactd",
    "khugepaged",
    "kauditd",
    "kdevtmpfs",
    "kblockd",
    "kintegrityd",
    "kthrotld",
    "ksmd",
    "kstrp",
    "kdmflush",
    "kcryptd",
    "kmpath",
    "kvm-",
    "dmcrypt_write",
    "writeback",
    "netns",
    "mm_percpu_wq",
    "slub_flushwq",
    "inet_frag_wq",
    "pool_workqueue_",
    "jbd2/",
    "ext4-rsv-",
    "xfsaild/",
    "xfs-",
    "btrfs-",
    "scsi_eh_",
    "scsi_tmf_",
    "ata_sff",
    "nvme-",
    "usb-storage",
    "vhost-",
    "hwrng",
];

/// True of the kernel's own threads, real-time or not, as far as names show.
pub(crate) fn is_of_kernel(comm: &str) -> bool {
    is_housekeeping(comm) || OTHERS.iter().any(|prefix| begins_with(comm, prefix))
}

/// True of programs that record traces, and so are in most of them.
pub(crate) fn records_traces(comm: &str) -> bool {
    const RECORDERS: [&str; 8] = [
        "trace-cmd",
        "perf",
        "perf-exec",
        "whylate",
        "traced",
        "traced_probes",
        "lttng-consumerd",
        "lttng-sessiond",
    ];
    RECORDERS.contains(&comm)
}

/// True of the threads of file systems and drivers that write and read for others: what waits for one waits for a device.
/// Those of memory management hold locks of programs instead.
pub(crate) fn does_requests(comm: &str) -> bool {
    const REQUESTS: [&str; 16] = [
        "jbd2/",
        "ext4-rsv-",
        "xfsaild/",
        "xfs-",
        "btrfs-",
        "kblockd",
        "kdmflush",
        "kcryptd",
        "kmpath",
        "dmcrypt_write",
        "writeback",
        "scsi_eh_",
        "scsi_tmf_",
        "ata_sff",
        "nvme-",
        "usb-storage",
    ];
    REQUESTS.iter().any(|prefix| begins_with(comm, prefix))
}

/// True of the stop class's threads, by name alone.
pub(crate) fn is_stopper(comm: &str) -> bool {
    STOPPERS.iter().any(|prefix| begins_with(comm, prefix))
}

/// True of the threads that do nothing but softirqs.
pub(crate) fn runs_softirqs(comm: &str) -> bool {
    SOFTIRQ_THREADS.iter().any(|prefix| begins_with(comm, prefix))
}

/// True of the threads that receive packets for a network device.
pub(crate) fn polls_network(comm: impl AsRef<[u8]>) -> bool {
    NAPI_THREADS.iter().any(|prefix| begins_with(&comm, prefix))
}

/// True of the threads in which interrupts of devices are handled (`irq/30-eth0`).
pub(crate) fn handles_interrupts(comm: &str) -> bool {
    comm.starts_with("irq/")
}

/// True of threads that do an interrupt's work: its own, those that receive packets, and those that run softirqs.
pub(crate) fn is_kernel_handler(comm: &str) -> bool {
    handles_interrupts(comm) || polls_network(comm) || runs_softirqs(comm)
}

/// True of a name that begins so, or of what is left of such a name where 8 characters are printed.
fn begins_with(comm: impl AsRef<[u8]>, prefix: &str) -> bool {
    const PRINTED: usize = 8;
    let (comm, prefix) = (comm.as_ref(), prefix.as_bytes());
    comm.starts_with(prefix) || (comm.len() == PRINTED && prefix.len() > PRINTED && prefix.starts_with(comm))
}

/// True for the threads that do work items (kernel/workqueue.c).
pub(crate) fn is_kworker(comm: &str) -> bool {
    comm.starts_with("kworker/")
}

/// True of the kernel's threads that belong to one CPU, by their name: `ksoftirqd/1`, `kworker/1:2-events`. Those may not be
/// moved (PF_NO_SETAFFINITY in include/linux/sched.h).
pub(crate) fn is_of_one_cpu(comm: &str) -> bool {
    comm.split_once('/').is_some_and(|(_, cpu)| cpu.starts_with(|first: char| first.is_ascii_digit()))
}

/// True of one that no CPU has for itself (`create_worker`, `kernel/workqueue.c`).
pub(crate) fn is_unbound_kworker(comm: &str) -> bool {
    comm.starts_with("kworker/u")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_threads_are_housekeeping() {
        for comm in [
            "migration/0",
            "migratio",
            "ktimers/12",
            "ksoftirq",
            "irq/27-eth0",
            "napi/eth0-8193",
            "backlog_napi/3",
            "IRQ-8",
            "rcu_preempt",
            "sugov:0",
            "sirq-net-rx/0",
            "watchdog/0",
            "posix_cp",
        ] {
            assert!(is_housekeeping(comm), "{comm}");
        }
        for comm in [
            "rtload",
            "cyclictest",
            "migrationd",
            "migrati",
            "irqbalance",
            "watchdogd2",
            "watchdog",
            "ktimer",
        ] {
            assert!(!is_housekeeping(comm), "{comm}");
        }
    }

    #[test]
    fn threads_that_do_requests_are_not_those_of_memory_management() {
        for comm in ["jbd2/nullb0-8", "xfsaild/dm-0", "usb-storage", "dmcrypt_write/25"] {
            assert!(does_requests(comm) && is_of_kernel(comm), "{comm}");
        }
        assert!(!["khugepaged", "kswapd0", "kworker/0:1", "jbd"].iter().any(|comm| does_requests(comm)));
    }

    #[test]
    fn stoppers_and_softirq_threads_are_known_by_what_is_left_of_their_names() {
        assert!(is_stopper("migration/7") && is_stopper("migratio") && !is_stopper("migrationd"));
        assert!(runs_softirqs("ksoftirq") && runs_softirqs("sirq-timer/0") && !runs_softirqs("ksoftirqs"));
    }
}
