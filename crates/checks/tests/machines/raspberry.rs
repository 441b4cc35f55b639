//! A Raspberry Pi 4 (arm64): no SMT, no x86 flags, a device tree, and the multipathd of a known story: SCHED_RR 99
//! in front of a priority 80 task, 331 us once a second.

use crate::files::{Files, Thread};
use crate::judged;
use whylate_checks::{CheckOptions, Profile};

fn pi(version: &str, config: &str) -> Files {
    let mut files = Files::kernel("6.12.47-rpi-v8-rt", version, config);
    files
        .cpus(4)
        .clock("arch_sys_counter", "arch_sys_counter")
        .set("/sys/devices/system/clockevents/clockevent3/current_device", "arch_sys_timer")
        .set("/proc/cmdline", "console=ttyS0,115200 root=PARTUUID=1 rootfstype=ext4 isolcpus=3 rootwait")
        .set("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd evtstrm crc32 cpuid")
        .set("/proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0")
        .set("/sys/devices/system/cpu/isolated", "3")
        .set("/sys/devices/system/cpu/smt/control", "notimplemented")
        .set("/sys/devices/system/cpu/smt/active", "0")
        .each_cpu(4, "cpufreq/scaling_driver", "cpufreq-dt")
        .each_cpu(4, "cpufreq/scaling_governor", "ondemand")
        .frequencies(("600000", "1800000"), ("600000", "1800000"))
        .set("/proc/irq/default_smp_affinity", "7")
        .irq(26, "fe00b880.mailbox", "0-2", "0")
        .irq(30, "DMA IRQ", "0-3", "0")
        .irq(39, "eth0", "0-3", "0")
        .irq(51, "xhci_hcd", "0-3", "0")
        .each_cpu(4, "cpuidle/state0/name", "WFI")
        .each_cpu(4, "cpuidle/state0/latency", "1")
        .each_cpu(4, "cpuidle/state0/disable", "0")
        .set("/sys/devices/system/cpu/vulnerabilities/spectre_v2", "Vulnerable")
        .debugfs(4)
        .thread(&Thread {
            tid: 1456,
            comm: "multipathd",
            policy: 2,
            priority: 99,
            cpus: "0-3",
            kernel: false,
        })
        .realtime_threads()
        .thread(&Thread { tid: 60, comm: "irq/39-eth0", policy: 1, priority: 50, cpus: "0", kernel: true });
    files
}

const CONFIG: &str = "CONFIG_PREEMPT_RT=y\nCONFIG_HZ=1000\nCONFIG_HZ_1000=y\nCONFIG_NO_HZ_IDLE=y\n\
    CONFIG_HIGH_RES_TIMERS=y\nCONFIG_CPU_FREQ=y\nCONFIG_CPU_IDLE=y\nCONFIG_PREEMPT_RCU=y\nCONFIG_LOCKUP_DETECTOR=y\n\
    CONFIG_TRACING=y\nCONFIG_FTRACE=y\nCONFIG_AUDIT=y\n";

#[test]
fn a_rogue_in_front() {
    let options = CheckOptions {
        cpus: Some("3".parse().expect("a list")),
        priority: Some(80),
        ..CheckOptions::of(Profile::Realtime)
    };
    let tree = pi("#1 SMP PREEMPT_RT Debian 1:6.12.47-1+rpt1 (2025-09-16)", CONFIG).tree();
    let known = [
        "preempt-rt: pass",
        "rogue-rt-threads: warning",
        "smt: pass",
        "clocksource: pass",
        "governor: warning",
        "irq-affinity: pass",
    ];
    let report = judged("raspberry-pi-4", &tree, &options, &known);
    let rogue = report.answers.iter().find(|answered| answered.rule.code == "rogue-rt-threads");
    let verdict = format!("{:?}", rogue.expect("asked").verdict);
    assert!(verdict.contains("multipathd") && !verdict.contains("ktimers"), "{verdict}");
}
