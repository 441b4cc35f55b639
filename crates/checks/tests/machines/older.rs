//! Kernels of before: 4.19 and 5.10, each as a distribution built it and with PREEMPT_RT. They lack files that newer ones
//! have, keep some elsewhere, and throttle otherwise.

use crate::files::{Files, Thread};
use crate::judged;
use whylate_checks::{CheckOptions, Profile};

/// Settings that 4.19 does not have: memory is compacted ahead of need since 5.9.
const NOT_YET_IN_4_19: &str = "/proc/sys/vm/compaction_proactiveness";

/// What these kernels list where debugfs is mounted; the file moved to sched/features in 5.13.
const FEATURES: &str = "/sys/kernel/debug/sched_features";

/// A server on bare metal: acpi-cpufreq, ACPI idle states, cgroup v1.
fn server(release: &str, version: &str, config: &str) -> Files {
    let mut files = Files::kernel(release, version, config);
    files
        .cpus(4)
        .set("/sys/devices/system/cpu/smt/control", "notsupported")
        .set("/sys/devices/system/cpu/smt/active", "0")
        .set(
            "/proc/cpuinfo",
            "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc tsc_deadline_timer",
        )
        .clock("tsc", "tsc hpet acpi_pm")
        .each_cpu(4, "cpufreq/scaling_driver", "acpi-cpufreq")
        .each_cpu(4, "cpufreq/scaling_governor", "ondemand")
        .frequencies(("1200000", "2400000"), ("1200000", "2400000"))
        .set("/sys/devices/system/cpu/cpufreq/boost", "1")
        .set("/sys/devices/system/cpu/cpuidle/current_driver", "acpi_idle")
        .each_cpu(4, "cpuidle/state0/name", "POLL")
        .each_cpu(4, "cpuidle/state0/latency", "0")
        .each_cpu(4, "cpuidle/state0/disable", "0")
        .each_cpu(4, "cpuidle/state1/name", "C2")
        .each_cpu(4, "cpuidle/state1/latency", "41")
        .each_cpu(4, "cpuidle/state1/disable", "0")
        .each_cpu(4, "thermal_throttle/core_throttle_count", "0")
        .each_cpu(4, "thermal_throttle/package_throttle_count", "0")
        .set("/sys/devices/system/machinecheck/machinecheck0/check_interval", "12c")
        .set("/sys/devices/system/machinecheck/machinecheck0/ignore_ce", "0")
        // 10240 us: the request of a sound card.
        .set_bytes("/dev/cpu_dma_latency", "\0\u{28}\0\0")
        .set("/proc/sys/kernel/numa_balancing", "0")
        .set("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI")
        .set("/proc/irq/default_smp_affinity", "f")
        .irq(24, "eno1", "0-3", "0")
        .irq(25, "ahci[0000:00:1f.2]", "0-3", "2")
        .set("/sys/kernel/debug/sched_debug", "Sched Debug Version: v0.11");
    files
}

/// Control groups of version 1, as Debian 10 mounts them: with an additional v2 hierarchy without controllers.
fn version_1(files: &mut Files) {
    files
        .without("/sys/fs/cgroup/cgroup.controllers")
        .set(
            "/proc/self/mounts",
            "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nsdelegate 0 0\n\
             cgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\n\
             cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
             cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0",
        )
        .set(
            "/proc/self/cgroup",
            "6:cpuset:/\n4:cpu,cpuacct:/user.slice\n1:name=systemd:/user.slice\n0::/user.slice",
        )
        .set("/sys/fs/cgroup/unified/cgroup.procs", "1")
        .set("/sys/fs/cgroup/cpu,cpuacct/cpu.shares", "1024")
        .set("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1")
        .set_in(
            "/sys/fs/cgroup/cpuset",
            &[("cpuset.cpus", "0-3"), ("cpuset.sched_load_balance", "1"), ("cpuset.cpu_exclusive", "1")],
        );
}

/// A program that loops at FIFO 80 is not stopped: a CPU borrows the real-time share of others.
#[test]
fn linux_4_19_as_debian_built_it() {
    let mut files = server(
        "4.19.0-27-amd64",
        "#1 SMP Debian 4.19.316-1 (2024-06-25)",
        "CONFIG_PREEMPT_NONE=y\n# CONFIG_PREEMPT_VOLUNTARY is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n\
         CONFIG_HIGH_RES_TIMERS=y\nCONFIG_NO_HZ_IDLE=y\nCONFIG_CPU_FREQ=y\nCONFIG_CPU_IDLE=y\n\
         CONFIG_LOCKUP_DETECTOR=y\nCONFIG_TRACING=y\nCONFIG_AUDIT=y\nCONFIG_NUMA_BALANCING=y\nCONFIG_FAIR_GROUP_SCHED=y\n",
    );
    files
        .without(NOT_YET_IN_4_19)
        .set("/proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz-4.19.0-27-amd64 ro isolcpus=3 quiet")
        .set("/sys/devices/system/cpu/isolated", "3")
        .set("/proc/sys/kernel/nmi_watchdog", "1")
        .set(FEATURES, "GENTLE_FAIR_SLEEPERS START_DEBIT TTWU_QUEUE RT_PUSH_IPI RT_RUNTIME_SHARE NO_LB_MIN");
    version_1(&mut files);
    let options =
        CheckOptions { cpus: Some("3".parse().expect("a list")), ..CheckOptions::of(Profile::Realtime) };
    let known = [
        "preempt-rt: error",
        "rt-throttling: info",
        "rt-runtime-share: info",
        "throttling-off-no-net: warning",
        "fair-server: n/a",
        "ext-server: n/a",
        "rt-uclamp: n/a",
        "compaction: pass",
        "cpu-isolation: pass",
        "cpuset-partition: n/a",
        "timer-migration: pass",
        "nmi-watchdog: warning",
        "governor: warning",
        "clocksource: pass",
    ];
    judged("4.19", &files.tree(), &options, &known);
}

/// PREEMPT_RT before it was called so: its token has a blank.
#[test]
fn linux_4_19_with_preempt_rt() {
    let mut files = server(
        "4.19.0-27-rt-amd64",
        "#1 SMP PREEMPT RT Debian 4.19.316-1 (2024-06-25)",
        "CONFIG_PREEMPT_RT_FULL=y\nCONFIG_HZ_250=y\nCONFIG_HZ=250\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_CPU_FREQ=y\n\
         CONFIG_CPU_IDLE=y\nCONFIG_TRACING=y\nCONFIG_AUDIT=y\n",
    );
    files
        .without(NOT_YET_IN_4_19)
        .set("/sys/kernel/realtime", "1")
        .set("/proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz-4.19.0-27-rt-amd64 ro quiet")
        .set("/proc/sys/vm/compact_unevictable_allowed", "1")
        .set(FEATURES, "GENTLE_FAIR_SLEEPERS START_DEBIT NO_TTWU_QUEUE RT_RUNTIME_SHARE");
    version_1(&mut files);
    for cpu in 0..4u32 {
        // The patches of then had threads for timers and for POSIX CPU timers.
        let (timers, posix, own) =
            (format!("ktimersoftd/{cpu}"), format!("posixcputmr/{cpu}"), cpu.to_string());
        let thread =
            |tid, comm, priority| Thread { tid, comm, policy: 1, priority, cpus: &own, kernel: true };
        files.thread(&thread(1003 + cpu * 10, &timers, 1));
        files.thread(&thread(1004 + cpu * 10, &posix, 99));
    }
    files.thread(&Thread { tid: 300, comm: "irq/24-eno1", policy: 1, priority: 50, cpus: "0", kernel: true });
    let known = [
        "preempt-rt: pass",
        "rt-throttling: info",
        "rt-runtime-share: info",
        "fair-server: n/a",
        "kernel-threads: warning",
        "irq-threads: pass",
        "governor: warning",
        "compact-unevictable: warning",
    ];
    judged("4.19-rt", &files.tree(), &CheckOptions::of(Profile::Realtime), &known);
}

/// Debian 11's real-time kernel: throttling is hard from 5.10 on, and switched off here with nothing in its place.
#[test]
fn linux_5_10_with_preempt_rt() {
    let mut files = server(
        "5.10.0-30-rt-amd64",
        "#1 SMP PREEMPT_RT Debian 5.10.218-1 (2024-06-01)",
        "CONFIG_PREEMPT_RT=y\nCONFIG_HZ_250=y\nCONFIG_HZ=250\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_CPU_FREQ=y\n\
         CONFIG_CPU_IDLE=y\nCONFIG_TRACING=y\nCONFIG_AUDIT=y\nCONFIG_EFI=y\nCONFIG_RCU_NOCB_CPU=y\n",
    );
    files
        .set("/sys/kernel/realtime", "1")
        .set(
            "/proc/cmdline",
            "BOOT_IMAGE=/boot/vmlinuz-5.10.0-30-rt-amd64 ro isolcpus=managed_irq,domain,2-3 quiet",
        )
        .set("/sys/devices/system/cpu/isolated", "2-3")
        .set("/proc/sys/kernel/sched_rt_runtime_us", "-1")
        .set("/proc/sys/vm/compact_unevictable_allowed", "0")
        .set("/sys/firmware/efi/fw_platform_size", "64")
        .set(FEATURES, "GENTLE_FAIR_SLEEPERS START_DEBIT NO_TTWU_QUEUE NO_RT_RUNTIME_SHARE")
        .set("/proc/irq/24/smp_affinity_list", "0-1")
        .set("/proc/irq/25/smp_affinity_list", "0-1")
        .set("/proc/irq/25/effective_affinity_list", "1")
        .set("/proc/irq/default_smp_affinity", "3")
        .each_cpu(4, "cpufreq/scaling_governor", "performance");
    for (tid, comm, own) in [(300, "irq/24-eno1", "0"), (301, "irq/25-ahci[000", "1")] {
        files.thread(&Thread { tid, comm, policy: 1, priority: 50, cpus: own, kernel: true });
    }
    for cpu in 0..4u32 {
        let (comm, own) = (format!("rcuc/{cpu}"), cpu.to_string());
        files.thread(&Thread {
            tid: 1003 + cpu * 10,
            comm: &comm,
            policy: 1,
            priority: 1,
            cpus: &own,
            kernel: true,
        });
    }
    let options = CheckOptions {
        cpus: Some("2-3".parse().expect("a list")),
        priority: Some(80),
        ..CheckOptions::of(Profile::Realtime)
    };
    let known = [
        "preempt-rt: pass",
        "rt-throttling: pass",
        "rt-runtime-share: n/a",
        "throttling-off-no-net: warning",
        "fair-server: n/a",
        "ext-server: n/a",
        "efi-runtime: pass",
        "governor: pass",
        "irq-affinity: pass",
        "cpu-isolation: pass",
        "timer-migration: pass",
        "compact-unevictable: pass",
        "kernel-threads: pass",
        "irq-threads: pass",
        "c-states: warning",
        "shared-irqs: pass",
    ];
    judged("5.10-rt", &files.tree(), &options, &known);
}
