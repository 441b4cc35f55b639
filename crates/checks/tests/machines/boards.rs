//! Boards with a device tree: a Jetson in a power mode, an i.MX 8M with NXP's kernel, an RK3588 with small and large CPUs. The
//! files are those that such boards have by the documentation that the rules name; none of them was captured.

use crate::files::{Files, Thread};
use crate::judged;
use whylate_checks::{CheckOptions, Profile};

const CONFIG: &str = "CONFIG_PREEMPT_RT=y\nCONFIG_HZ=250\nCONFIG_HZ_250=y\nCONFIG_NO_HZ_IDLE=y\n\
    CONFIG_HIGH_RES_TIMERS=y\nCONFIG_CPU_FREQ=y\nCONFIG_CPU_IDLE=y\nCONFIG_PREEMPT_RCU=y\n";

/// What all of them have: the architected timer, GIC, PSCI's idle states, a device tree.
fn board(release: &str, model: &str, cpus: u32) -> Files {
    let mut files = Files::kernel(release, "#1 SMP PREEMPT_RT", CONFIG);
    files
        .cpus(cpus)
        .clock("arch_sys_counter", "arch_sys_counter")
        .set("/sys/devices/system/clockevents/clockevent3/current_device", "arch_sys_timer")
        .set("/proc/cmdline", "console=ttyS0,115200 root=/dev/mmcblk0p1 rootwait")
        .set("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd evtstrm crc32 cpuid")
        .set_bytes("/proc/device-tree/model", &format!("{model}\0"))
        .set_bytes("/sys/devices/system/cpu/isolated", "\n")
        .set("/sys/devices/system/cpu/smt/control", "notimplemented")
        .set("/sys/devices/system/cpu/smt/active", "0")
        .set("/sys/devices/system/cpu/cpuidle/current_driver", "psci_idle")
        .set("/sys/bus/platform/drivers/psci-cpuidle/uevent", "")
        .set("/sys/class/net/lo/ifindex", "1")
        .set("/dev/kmsg", "6,1,1,-;Booting Linux")
        .set("/proc/irq/default_smp_affinity", "ff")
        .irq(39, "eth0", "0-1", "0")
        .each_cpu(cpus, "cpuidle/state0/name", "WFI")
        .each_cpu(cpus, "cpuidle/state0/latency", "1")
        .each_cpu(cpus, "cpuidle/state0/disable", "0")
        .each_cpu(cpus, "cpuidle/state1/name", "cpu-sleep")
        .each_cpu(cpus, "cpuidle/state1/latency", "700")
        .each_cpu(cpus, "cpuidle/state1/disable", "0")
        .each_cpu(cpus, "cpufreq/scaling_driver", "cpufreq-dt")
        .each_cpu(cpus, "cpufreq/scaling_governor", "schedutil")
        .debugfs(cpus)
        .realtime_threads()
        .thread(&Thread { tid: 60, comm: "irq/39-eth0", policy: 1, priority: 50, cpus: "0", kernel: true });
    files
}

fn cpus(list: &str) -> CheckOptions {
    CheckOptions { cpus: Some(list.parse().expect("a list")), ..CheckOptions::of(Profile::Realtime) }
}

/// An Orin Nano in its mode of 15 W.
#[test]
fn a_jetson_in_a_power_mode() {
    let mut files = board("5.15.148-rt-tegra", "NVIDIA Jetson Orin Nano Developer Kit", 6);
    files
        .frequencies(("729600", "1510400"), ("115200", "1728000"))
        .each_cpu(6, "cpufreq/related_cpus", "0 1 2 3")
        .set(
            "/etc/nvpmodel.conf",
            "< PARAM TYPE=FILE NAME=CPU_ONLINE >\n< POWER_MODEL ID=0 NAME=15W >\n< POWER_MODEL ID=2 NAME=MAXN_SUPER >\n\
             < PM_CONFIG DEFAULT=2 >",
        )
        .set("/var/lib/nvpmodel/status", "pmode:0000")
        .set("/sys/class/devfreq/17000000.gpu/governor", "nvhost_podgov");
    let known = [
        "jetson-power-mode: info",
        "frequency-limits: info",
        "frequency-domain: info",
        "c-states: warning",
        "memory-frequency: n/a",
        "raspberry-pi-throttled: n/a",
        "imx-bus-frequency: n/a",
        "cpu-capacity: n/a",
        "machine-check-polling: n/a",
    ];
    let report = judged("jetson-orin-nano", &files.tree(), &cpus("3"), &known);
    let mode = report.answers.iter().find(|answered| answered.rule.code == "jetson-power-mode");
    let verdict = format!("{:?}", mode.expect("asked").verdict);
    assert!(verdict.contains("`15W` CPUs may reach only 1510 of 1728 MHz"), "{verdict}");
}

/// NXP's kernel changes the frequencies of buses and memory.
#[test]
fn an_imx_with_its_vendors_kernel() {
    let mut files = board("6.6.52-rt-lts", "Toradex Verdin iMX8M Mini on Verdin Development Board", 4);
    files
        .frequencies(("1200000", "1600000"), ("1200000", "1600000"))
        .each_cpu(4, "cpufreq/related_cpus", "0 1 2 3")
        .set("/sys/bus/platform/drivers/imx_busfreq/busfreq/enable", "Bus frequency scaling is enabled")
        .set("/sys/class/devfreq/3d400000.memory-controller/governor", "userspace")
        .set("/sys/class/devfreq/3d400000.memory-controller/min_freq", "25000000")
        .set("/sys/class/devfreq/3d400000.memory-controller/max_freq", "750000000");
    let known = [
        "imx-bus-frequency: warning",
        "memory-frequency: pass",
        "frequency-domain: info",
        "c-states: warning",
        "jetson-power-mode: n/a",
        "raspberry-pi-throttled: n/a",
        "cpu-capacity: n/a",
        "smi: n/a",
    ];
    judged("imx8m-mini", &files.tree(), &cpus("3"), &known);
}

/// Four small CPUs, and two clusters of two large ones. Real-time work on small ones shares their clock.
#[test]
fn small_and_large_cpus() {
    let mut files = board("6.12.30-rt", "Radxa ROCK 5B", 8);
    files.frequencies(("408000", "2256000"), ("408000", "2256000"));
    for (cpu, capacity, related) in [
        (0, "530", "0 1 2 3"),
        (1, "530", "0 1 2 3"),
        (2, "530", "0 1 2 3"),
        (3, "530", "0 1 2 3"),
        (4, "1024", "4 5"),
        (5, "1024", "4 5"),
        (6, "1024", "6 7"),
        (7, "1024", "6 7"),
    ] {
        let at = format!("/sys/devices/system/cpu/cpu{cpu}");
        files.set(&format!("{at}/cpu_capacity"), capacity);
        files.set(&format!("{at}/cpufreq/related_cpus"), related);
    }
    files.set("/sys/class/devfreq/dmc/governor", "simple_ondemand");
    files
        .set("/sys/class/devfreq/dmc/min_freq", "528000000")
        .set("/sys/class/devfreq/dmc/max_freq", "2112000000");
    let small = [
        "cpu-capacity: info",
        "frequency-domain: info",
        "memory-frequency: warning",
        "jetson-power-mode: n/a",
    ];
    judged("rk3588", &files.tree(), &cpus("3"), &small);
    let large = whylate_checks::check(
        &whylate_host::Snapshot::read(&files.tree()),
        &cpus("6-7"),
        &whylate_checks::Selection::default(),
    );
    for code in ["cpu-capacity", "frequency-domain"] {
        let answered = large.answers.iter().find(|answered| answered.rule.code == code).expect("asked");
        let verdict = format!("{:?}", answered.verdict);
        assert!(verdict.contains("Pass"), "{code}: {verdict}");
    }
}
