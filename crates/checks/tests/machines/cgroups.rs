//! Control groups of both versions: an old server with v1, where RT_GROUP_SCHED keeps real-time scheduling from
//! everybody; and a workstation with v2 and an isolated cpuset partition.

use crate::files::Files;
use crate::judged;
use whylate_checks::{CheckOptions, Profile};

#[test]
fn version_1_with_real_time_groups() {
    let mut files = Files::kernel(
        "4.18.0-553.el8_10.x86_64",
        "#1 SMP Fri May 10 15:19:13 EDT 2024",
        "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_RT_GROUP_SCHED=y\nCONFIG_NO_HZ_FULL=y\nCONFIG_HZ=1000\n\
         CONFIG_HIGH_RES_TIMERS=y\nCONFIG_RCU_NOCB_CPU=y\nCONFIG_TRACING=y\nCONFIG_AUDIT=y\n",
    );
    files
        .cpus(8)
        .set("/sys/devices/system/cpu/smt/control", "notsupported")
        .set("/sys/devices/system/cpu/smt/active", "0")
        .set("/sys/devices/system/cpu/nohz_full", "2-7")
        .set("/sys/devices/system/cpu/isolated", "2-7")
        .set(
            "/proc/cmdline",
            "ro skew_tick=1 tsc=reliable isolcpus=2-7 nohz=on nohz_full=2-7 rcu_nocbs=2-7 nosoftlockup",
        )
        .set(
            "/proc/cpuinfo",
            "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc tsc_deadline_timer",
        )
        .clock("tsc", "tsc hpet acpi_pm")
        .each_cpu(8, "cpufreq/scaling_driver", "acpi-cpufreq")
        .each_cpu(8, "cpufreq/scaling_governor", "performance")
        .set("/proc/irq/default_smp_affinity", "03")
        .frequencies(("1200000", "2400000"), ("1200000", "2400000"))
        .set("/sys/devices/virtual/workqueue/cpumask", "03")
        .rcu_offloaded(2..=7, "0-1")
        .irq(44, "ens3f0", "0-1", "1")
        .set("/proc/self/cgroup", "4:cpu,cpuacct:/user.slice\n1:name=systemd:/user.slice/user-0.slice")
        .set(
            "/proc/self/mounts",
            "cgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\n\
             cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
             cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0",
        )
        .set_in(
            "/sys/fs/cgroup/cpu,cpuacct",
            &[
                ("cpu.rt_runtime_us", "950000"),
                ("cpu.rt_period_us", "1000000"),
                ("user.slice/cpu.rt_runtime_us", "0"),
                ("user.slice/cpu.rt_period_us", "1000000"),
                ("system.slice/cpu.rt_runtime_us", "0"),
                ("system.slice/cpu.rt_period_us", "1000000"),
            ],
        )
        .set("/sys/fs/cgroup/cpuset/cpuset.cpus", "0-7");
    let options = CheckOptions {
        cpus: Some("2-7".parse().expect("a list")),
        ..CheckOptions::of(Profile::CpuPartitioning)
    };
    let known = [
        "rt-group-sched: warning",
        "governor: pass",
        "rcu-offload: pass",
        "workqueue-cpus: pass",
        "irq-affinity: pass",
        "smt: pass",
    ];
    judged("cgroup-v1", &files.tree(), &options, &known);
}

#[test]
fn version_2_with_an_isolated_partition() {
    let mut files = Files::kernel(
        "6.12.38+deb13-amd64",
        "#1 SMP PREEMPT_DYNAMIC Debian 6.12.38-1 (2025-07-16)",
        "CONFIG_PREEMPT=y\nCONFIG_PREEMPT_DYNAMIC=y\nCONFIG_IRQ_FORCED_THREADING=y\nCONFIG_TRACING=y\nCONFIG_AUDIT=y\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_HZ=250\n",
    );
    files
        .cpus(8)
        .set("/sys/devices/system/cpu/smt/control", "notsupported")
        .set("/sys/devices/system/cpu/smt/active", "0")
        .set("/sys/devices/system/cpu/isolated", "6-7")
        .set("/proc/cmdline", "root=/dev/nvme0n1p2 ro quiet preempt=full threadirqs")
        .set("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc")
        .clock("tsc", "tsc hpet acpi_pm")
        .each_cpu(8, "cpufreq/scaling_driver", "amd-pstate-epp")
        .each_cpu(8, "cpufreq/scaling_governor", "powersave")
        .each_cpu(8, "cpufreq/energy_performance_preference", "balance_performance")
        .set("/proc/irq/default_smp_affinity", "ff")
        .frequencies(("400000", "4500000"), ("400000", "4500000"))
        .irq(70, "snd_hda_intel:card0", "0-5", "2")
        .irq(71, "xhci_hcd", "0-7", "7")
        .set("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0")
        .set("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids")
        .set_in(
            "/sys/fs/cgroup/audio.slice",
            &[
                ("cpuset.cpus", "6-7"),
                ("cpuset.cpus.effective", "6-7"),
                ("cpuset.cpus.partition", "isolated"),
                ("cpu.max", "max 100000"),
            ],
        )
        .set("/etc/group", "audio:x:29:ann\nann:x:1000:")
        .set("/etc/security/limits.d/audio.conf", "@audio - rtprio 95\n@audio - memlock unlimited")
        .set("/sys/kernel/debug/sched/preempt", "none voluntary (full) lazy")
        .debugfs(8);
    let options = CheckOptions {
        cpus: Some("6-7".parse().expect("a list")),
        user: Some("ann".to_owned()),
        ..CheckOptions::of(Profile::Audio)
    };
    let known = ["governor: warning", "clocksource: pass", "rtprio-limit: pass", "memlock-limit: pass"];
    judged("cgroup-v2", &files.tree(), &options, &known);
    // preempt=full does not make a real-time kernel.
    judged("cgroup-v2-realtime", &files.tree(), &CheckOptions::of(Profile::Realtime), &["preempt-rt: error"]);
}
