//! The deliberate differences from TuneD, with reasons. Each line stands for a difference that a run in the lab has
//! shown.

/// A setting of TuneD, or several: `*` stands for any characters.
struct Deliberate {
    names: &'static str,
    /// It holds for `--tuned` too, otherwise only for our own profile of that name.
    read: bool,
    why: &'static str,
}

const fn of_ours(names: &'static str, why: &'static str) -> Deliberate {
    Deliberate { names, read: false, why }
}

const fn of_both(names: &'static str, why: &'static str) -> Deliberate {
    Deliberate { names, read: true, why }
}

const SOFT_LOCKUPS: &str = "the soft lockup detector stays on for the other CPUs: kernel.watchdog_cpumask excludes the \
                            isolated ones";
const POLLING: &str = "programs that poll sockets request it (SO_BUSY_POLL); for all others each poll(2) would keep a CPU \
                       busy for 50 us";
const SCRIPT: &str = "TuneD's script.sh sets it, and whylate runs no script to read a profile; realtime-virtual-host has \
                      kvm.kvmclock_periodic_sync=0";
const ITS_OWN: &str = "a service that TuneD needs itself";
const FOLLOWS: &str =
    "the thread of an interrupt follows the interrupt, which the kernel or irqbalance places";
const POLLED: &str = "rcutree.kthread_prio=4: at priority 1 it would never run beside a polling thread of priority 1 on \
                      its CPU";

const DELIBERATE: &[Deliberate] = &[
    of_ours(
        "kernel parameter isolcpus",
        "with managed_irq: the queues of disks and network cards for other CPUs do not interrupt the isolated ones",
    ),
    of_ours(
        "kernel parameter intel_pstate",
        "the driver stays in use, with the governor `performance` and the minimum frequency at its maximum",
    ),
    of_ours("kernel parameter nosoftlockup", SOFT_LOCKUPS),
    of_ours("/proc/sys/kernel/soft_watchdog", SOFT_LOCKUPS),
    of_ours("/proc/sys/kernel/watchdog", SOFT_LOCKUPS),
    of_ours("/proc/sys/net/core/busy_*", POLLING),
    of_ours("/proc/sys/net/ipv4/tcp_fastopen", "it shortens the setup of connections, not latencies"),
    of_ours(
        "/sys/devices/system/machinecheck/*/ignore_ce",
        "corrected memory errors are the first sign of failing memory: `--set no-reports=true` turns the reports off",
    ),
    of_both("threads [irq/*", FOLLOWS),
    of_ours(
        "threads [ktimers/*",
        "timers run before the softirqs of network and block devices, which ksoftirqd runs at 2; TuneD also sets 3 for \
         the same threads of older kernels, ktimersoftd",
    ),
    of_ours("threads [rcu_preempt]", POLLED),
    of_ours("threads [rcuo*", POLLED),
    of_ours("kernel parameter nohz", "it is the default"),
    of_ours("kernel parameter tuned.non_isolcpus", "only TuneD reads it, from its own initial RAM disk"),
    of_both("/etc/modprobe.d/kvm.rt.tuned.conf", SCRIPT),
    of_both("/sys/module/kvm/parameters/kvmclock_periodic_sync", SCRIPT),
    of_both(
        "/etc/systemd/system.conf",
        "CPUAffinity= is in whylate's own file: /etc/systemd/system.conf.d/zz-whylate.conf",
    ),
    of_both("polkit.service runs", ITS_OWN),
    of_both("threads gdbus", ITS_OWN),
    of_both("threads polkitd", ITS_OWN),
    of_both("threads pool-*", ITS_OWN),
];

/// The reason why that setting differs from TuneD's; `read`: with `--tuned`, which reads TuneD's profile.
pub(super) fn why(name: &str, read: bool) -> Option<&'static str> {
    let known = DELIBERATE.iter().find(|known| known.read >= read && whylate_base::glob(known.names, name));
    known.map(|known| known.why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_ours_does_not_excuse_a_profile_that_was_read() {
        let name = "/proc/sys/kernel/soft_watchdog";
        assert!(why(name, false).is_some() && why(name, true).is_none());
        assert!(why("threads gdbus", true).is_some() && why("threads gdbus", false).is_some());
        assert_eq!(why("/proc/sys/vm/swappiness", false), None);
    }
}
