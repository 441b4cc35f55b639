//! The kernel's own threads.

/// Real-time threads of the kernel itself. They are real-time so that they serve others, and
/// being late is their normal life; a trace shows no parent, so they are known by name.
pub(crate) fn is_housekeeping(comm: &str) -> bool {
    const PER_CPU: [&str; 12] = [
        "migration/",
        "ktimers/",
        "ksoftirqd/",
        "rcuc/",
        "rcub/",
        "rcuop/",
        "rcuog/",
        "rcuos/",
        "cpuhp/",
        "irq_work/",
        "idle_inject/",
        "backlog_napi/",
    ];
    const PREFIXES: [&str; 6] = ["irq/", "rcu_", "sugov:", "watchdog/", "kworker/", "posixcputmr"];
    const NAMES: [&str; 6] = ["oom_reaper", "khungtaskd", "watchdogd", "psimon", "ktimersoftd", "hwlatd"];
    PER_CPU.iter().chain(&PREFIXES).any(|prefix| comm.starts_with(prefix)) || NAMES.contains(&comm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_threads_are_housekeeping() {
        for comm in ["migration/0", "ktimers/12", "irq/27-eth0", "rcu_preempt", "sugov:0"] {
            assert!(is_housekeeping(comm), "{comm}");
        }
        for comm in ["rtload", "cyclictest", "migrationd", "irqbalance", "watchdogd2"] {
            assert!(!is_housekeeping(comm), "{comm}");
        }
    }
}
