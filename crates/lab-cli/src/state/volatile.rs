//! Values that differ between two boots, or two moments, without a change of settings. Each has a reason, because these
//! values are not compared.

use super::MachineState;
use whylate_base::glob;

/// Names that are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volatile {
    /// The group.
    pub group: &'static str,
    /// Names; `*` stands for any characters.
    pub names: &'static str,
    /// The reason why they differ.
    pub why: &'static str,
    /// They differ only while this unit runs, in both states; `None`: always.
    pub by: Option<&'static str>,
}

const fn volatile(group: &'static str, names: &'static str, why: &'static str) -> Volatile {
    Volatile { group, names, why, by: None }
}

const fn volatile_by(
    by: &'static str,
    group: &'static str,
    names: &'static str,
    why: &'static str,
) -> Volatile {
    Volatile { group, names, why, by: Some(by) }
}

const COUNTED: &str = "the kernel counts in it";
const RANDOM: &str = "made anew at each boot, or each time it is read";
const MEMORY: &str = "worked out at boot from the memory that is free then, which differs by some pages";

/// All of them.
pub const VOLATILE: &[Volatile] = &[
    volatile("kernel", "/proc/sys/fs/dentry-state", COUNTED),
    volatile("kernel", "/proc/sys/fs/file-nr", COUNTED),
    volatile("kernel", "/proc/sys/fs/inode-*", COUNTED),
    volatile("kernel", "/proc/sys/fs/aio-nr", COUNTED),
    volatile("kernel", "/proc/sys/fs/quota/*", COUNTED),
    volatile("kernel", "/proc/sys/fs/epoll/max_user_watches", MEMORY),
    volatile("kernel", "/proc/sys/fs/file-max", MEMORY),
    volatile("kernel", "/proc/sys/fs/fanotify/*", MEMORY),
    volatile("kernel", "/proc/sys/fs/inotify/*", MEMORY),
    volatile("kernel", "/proc/sys/user/max_*", MEMORY),
    volatile("kernel", "/proc/sys/vm/user_reserve_kbytes", MEMORY),
    volatile("kernel", "/proc/sys/vm/admin_reserve_kbytes", MEMORY),
    volatile("threads", "(udev-worker)", "there while devices appear"),
    volatile("kernel", "/proc/sys/kernel/threads-max", MEMORY),
    volatile("kernel", "/proc/sys/kernel/ns_last_pid", COUNTED),
    volatile("kernel", "/proc/sys/kernel/pty/nr", COUNTED),
    volatile("kernel", "/proc/sys/kernel/random/*", RANDOM),
    volatile("kernel", "/proc/sys/net/ipv4/tcp_*mem", MEMORY),
    volatile("kernel", "/proc/sys/net/ipv4/udp_mem", MEMORY),
    volatile("kernel", "/proc/sys/net/ipv4/tcp_fastopen_key", RANDOM),
    volatile("kernel", "/proc/sys/net/ipv4/tcp_max_*", MEMORY),
    volatile("kernel", "/proc/sys/net/netfilter/nf_conntrack_count", COUNTED),
    volatile("kernel", "/sys/devices/system/cpu/*/cpuidle/state*/*", COUNTED),
    volatile_by(
        "irqbalance.service",
        "kernel",
        "/proc/irq/*/smp_affinity",
        "irqbalance sets it every ten seconds",
    ),
    volatile("kernel", "/sys/kernel/debug/sched/domains/*/max_newidle_lb_cost", "the kernel measures it"),
    volatile("files", "/var/lib/systemd/random-seed", RANDOM),
    volatile("kernel", "/sys/fs/cgroup/*.service/*", "there while the service runs, which `units` shows"),
];

/// The reason why that value is not compared between two states; `None`: it is compared.
pub(super) fn why(group: &str, name: &str, states: [&MachineState; 2]) -> Option<&'static str> {
    let runs = |unit: &str| {
        let unit = format!("{unit} runs");
        states.iter().all(|state| state.value("units", &unit) == Some("loaded active"))
    };
    let known = VOLATILE
        .iter()
        .find(|known| known.group == group && glob(known.names, name) && known.by.is_none_or(runs));
    known.map(|known| known.why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn untouched() -> [&'static MachineState; 2] {
        static STATE: MachineState = MachineState { groups: BTreeMap::new() };
        [&STATE, &STATE]
    }

    #[test]
    fn interrupts_are_compared_unless_irqbalance_moves_them() {
        let name = "/proc/irq/24/smp_affinity";
        let state = |runs: &str| {
            let units = BTreeMap::from([("irqbalance.service runs".to_owned(), runs.to_owned())]);
            MachineState { groups: BTreeMap::from([("units".to_owned(), units)]) }
        };
        let (on, off) = (state("loaded active"), state("loaded inactive"));
        assert!(why("kernel", name, [&on, &on]).is_some());
        for states in [[&on, &off], [&off, &on], [&off, &off], untouched()] {
            assert_eq!(why("kernel", name, states), None);
        }
        assert_eq!(why("kernel", "/proc/irq/default_smp_affinity", [&on, &on]), None);
    }

    #[test]
    fn what_tuning_is_about_is_never_left_out() {
        for name in [
            "/proc/sys/kernel/sched_rt_runtime_us",
            "/proc/sys/kernel/timer_migration",
            "/proc/sys/vm/stat_interval",
            "/proc/cmdline",
            "/proc/irq/default_smp_affinity",
            "/sys/devices/virtual/workqueue/cpumask",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "/sys/kernel/mm/transparent_hugepage/enabled",
        ] {
            assert_eq!(why("kernel", name, untouched()), None, "{name}");
        }
        for group in ["files", "units", "threads"] {
            let all = VOLATILE.iter().filter(|known| known.group == group);
            assert!(all.clone().all(|known| known.names.matches('*').count() < known.names.len()), "{group}");
        }
        assert_eq!(why("files", "/etc/default/grub", untouched()), None);
    }
}
