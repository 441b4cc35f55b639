//! What we make otherwise than TuneD on purpose, and why. Found by running it, not by reading profiles: each line stands
//! for a difference that the lab has shown.

/// A setting of TuneD's, or several: `*` stands for any characters.
struct Deliberate {
    names: &'static str,
    /// Also where TuneD's own profile is read; else only with our profile of that name.
    read: bool,
    why: &'static str,
}

const fn of_ours(names: &'static str, why: &'static str) -> Deliberate {
    Deliberate { names, read: false, why }
}

const fn of_both(names: &'static str, why: &'static str) -> Deliberate {
    Deliberate { names, read: true, why }
}

const SOFT_LOCKUPS: &str = "the soft lockup detector stays on for the other CPUs: kernel.watchdog_cpumask keeps it off \
                            the isolated ones";
const POLLING: &str = "programs that want to poll sockets request for it (SO_BUSY_POLL); for all others each poll(2) would \
                       keep a CPU busy for 50 us";
const SCRIPT: &str = "TuneD's script.sh does it, and no script is run to read a profile; realtime-virtual-host has \
                      kvm.kvmclock_periodic_sync=0";
const ITS_OWN: &str = "a service that TuneD needs itself";
const FOLLOWS: &str = "the thread of an interrupt goes where the interrupt goes: one that the kernel has placed, or \
                       irqbalance among the CPUs it may use";

const POLLED: &str = "rcutree.kthread_prio=4: at 1 it would wait for a thread of priority 1 that polls, and never run \
                      beside one on its CPU";

const DELIBERATE: &[Deliberate] = &[
    of_ours(
        "kernel parameter isolcpus",
        "managed_irq, too: the queues of disks and network cards of other CPUs do not interrupt the isolated ones",
    ),
    of_ours(
        "kernel parameter intel_pstate",
        "the driver stays, with the governor `performance` and its lowest frequency at the highest",
    ),
    of_ours("kernel parameter nosoftlockup", SOFT_LOCKUPS),
    of_ours("/proc/sys/kernel/soft_watchdog", SOFT_LOCKUPS),
    of_ours("/proc/sys/kernel/watchdog", SOFT_LOCKUPS),
    of_ours("/proc/sys/net/core/busy_*", POLLING),
    of_ours("/proc/sys/net/ipv4/tcp_fastopen", "it shortens how connections begin, not how late anything is"),
    of_ours(
        "/sys/devices/system/machinecheck/*/ignore_ce",
        "corrected memory errors announce that memory fails: `--set no-reports=true` does without the reports",
    ),
    of_both("threads [irq/*", FOLLOWS),
    of_ours(
        "threads [ktimers/*",
        "timers come before the softirqs of network and block devices, which ksoftirqd does at 2; TuneD, too, gives 3 to \
         the same threads of older kernels, ktimersoftd",
    ),
    of_ours("threads [rcu_preempt]", POLLED),
    of_ours("threads [rcuo*", POLLED),
    of_ours("kernel parameter nohz", "it is the default"),
    of_ours(
        "kernel parameter tuned.non_isolcpus",
        "only TuneD reads it, from an initial RAM disk of its own",
    ),
    of_both("/etc/modprobe.d/kvm.rt.tuned.conf", SCRIPT),
    of_both("/sys/module/kvm/parameters/kvmclock_periodic_sync", SCRIPT),
    of_both(
        "/etc/systemd/system.conf",
        "CPUAffinity= is in a file of our own: /etc/systemd/system.conf.d/zz-whylate.conf",
    ),
    of_both("polkit.service runs", ITS_OWN),
    of_both("threads gdbus", ITS_OWN),
    of_both("threads polkitd", ITS_OWN),
    of_both("threads pool-*", ITS_OWN),
];

/// Why that setting is not made as TuneD makes it; `read`: where TuneD's profile is read.
pub(super) fn why(name: &str, read: bool) -> Option<&'static str> {
    let known =
        DELIBERATE.iter().find(|known| known.read >= read && crate::pattern::matches(known.names, name));
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
