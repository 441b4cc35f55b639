//! A server with 128 CPUs: two packages of 32 cores with SMT, four NUMA nodes, 301 interrupts, Linux 7.2 PREEMPT_RT;
//! CPUs 8-15 are kept for real-time work, one of their interrupts was forgotten.

use crate::files::{Files, Thread};
use crate::judged;
use whylate_checks::{CheckOptions, Profile};

const CPUS: u32 = 128;

fn server() -> Files {
    let mut files = Files::kernel(
        "7.2.0-1-rt-amd64",
        "#1 SMP PREEMPT_RT Debian 7.2.1-1 (2026-09-02)",
        "CONFIG_PREEMPT_RT=y\nCONFIG_NO_HZ_FULL=y\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_CPU_ISOLATION=y\nCONFIG_HZ=250\n\
         CONFIG_RCU_NOCB_CPU=y\nCONFIG_CPU_FREQ=y\n\
         CONFIG_CPU_IDLE=y\nCONFIG_TRACING=y\nCONFIG_AUDIT=y\nCONFIG_NUMA_BALANCING=y\n",
    );
    // The siblings of a core are 64 apart, as firmware usually numbers them.
    files
        .cpus_wired(CPUS, |cpu| {
            let core = cpu % 64;
            (core / 32, core, format!("{core},{}", core + 64))
        })
        .set("/sys/devices/system/cpu/isolated", "8-15,72-79")
        .set("/sys/devices/system/cpu/nohz_full", "8-15,72-79")
        .set("/sys/devices/system/cpu/smt/control", "on")
        .set("/sys/devices/system/cpu/smt/active", "1")
        .set("/proc/cmdline", "root=/dev/md0 isolcpus=managed_irq,domain,8-15,72-79 nohz_full=8-15,72-79 rcu_nocbs=8-15,72-79 irqaffinity=0-7")
        .set("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu tsc constant_tsc nonstop_tsc tsc_deadline_timer")
        .clock("tsc", "tsc hpet acpi_pm")
        .set("/proc/sys/kernel/sched_rt_runtime_us", "-1")
        .set("/proc/sys/kernel/timer_migration", "0")
        .set("/proc/sys/kernel/numa_balancing", "1")
        .set("/sys/devices/virtual/workqueue/cpumask", "00000000,00000000,00000000,000000ff")
        .each_cpu(CPUS, "cpufreq/scaling_driver", "intel_pstate")
        .each_cpu(CPUS, "cpufreq/scaling_governor", "performance")
        .frequencies(("2600000", "2600000"), ("800000", "3500000"))
        .set("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle")
        .each_cpu(CPUS, "cpuidle/state0/name", "POLL")
        .each_cpu(CPUS, "cpuidle/state0/latency", "0")
        .each_cpu(CPUS, "cpuidle/state0/disable", "0")
        .each_cpu(CPUS, "cpuidle/state1/name", "C1")
        .each_cpu(CPUS, "cpuidle/state1/latency", "1")
        .each_cpu(CPUS, "cpuidle/state1/disable", "0")
        .each_cpu(CPUS, "cpuidle/state2/name", "C6")
        .each_cpu(CPUS, "cpuidle/state2/latency", "170")
        .each_cpu(CPUS, "cpuidle/state2/disable", "0")
        .set("/sys/devices/system/cpu/intel_pstate/status", "active")
        .set("/sys/devices/system/cpu/intel_pstate/no_turbo", "0")
        .set("/sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: Enhanced / Automatic IBRS")
        .set("/sys/devices/system/machinecheck/machinecheck0/check_interval", "12c")
        .set("/sys/devices/system/machinecheck/machinecheck0/ignore_ce", "0")
        .each_cpu(CPUS, "thermal_throttle/core_throttle_count", "0")
        .each_cpu(CPUS, "thermal_throttle/package_throttle_count", "0")
        .set("/dev/kmsg", "6,0,0,-;Linux version 7.2.0-1-rt-amd64\n6,1,0,-;tsc: Refined TSC clocksource calibration")
        .set("/proc/irq/default_smp_affinity", "00000000,00000000,00000000,000000ff")
        .set_in("/sys/class/dmi/id", &[("sys_vendor", "Example"), ("product_name", "R2"), ("chassis_type", "23")])
        .debugfs(CPUS);
    for node in 0..4u32 {
        let first = node * 16;
        files.set_in(
            &format!("/sys/devices/system/node/node{node}"),
            &[
                ("cpulist", &format!("{first}-{},{}-{}", first + 15, first + 64, first + 79)),
                ("distance", "10 12 20 20"),
                ("meminfo", &format!("Node {node} MemTotal:       65536000 kB")),
            ],
        );
    }
    for irq in 24..324u32 {
        let cpu = (irq % 8).to_string();
        files.irq(irq, &format!("nvme0q{}", irq - 24), "0-7", &cpu);
    }
    files.irq(324, "eth7-TxRx-5", "0-127", "9");
    let (comm, cpus) = ("irq/324-eth7-TxRx-5", "9");
    files
        .thread(&Thread { tid: 90, comm, policy: 1, priority: 50, cpus, kernel: true })
        .realtime_threads()
        .rcu_offloaded(8..=15, "0-7")
        .rcu_offloaded(72..=79, "0-7");
    files
}

#[test]
fn one_interrupt_was_forgotten() {
    let options = CheckOptions {
        cpus: Some("8-15".parse().expect("a list")),
        priority: Some(70),
        ..CheckOptions::of(Profile::Realtime)
    };
    let known = [
        "preempt-rt: pass",
        "smt: warning",
        "governor: pass",
        "clocksource: pass",
        "irq-affinity: warning",
        "rogue-rt-threads: pass",
        "rcu-offload: pass",
        "workqueue-cpus: pass",
        "numa-placement: pass",
        "c-states: warning",
    ];
    let report = judged("numa-128", &server().tree(), &options, &known);
    let irqs = report.answers.iter().find(|answered| answered.rule.code == "irq-affinity");
    let verdict = format!("{:?}", irqs.expect("asked").verdict);
    assert!(verdict.contains("324") && verdict.contains("1 of 301"), "{verdict}");
}
