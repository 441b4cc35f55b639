//! An unpacked sosreport: some files as they are, others as the output of a command, the rest not collected.

use crate::judged;
use std::fs;
use std::path::Path;
use whylate_checks::{CheckOptions, Profile};
use whylate_host::FsRoot;

/// As sos 4 lays it out, its plugins kernel, processor, hardware, memory, boot, systemd, pam and cgroups.
const FILES: &[(&str, &str)] = &[
    ("version.txt", "sos report: 4.8.0\n"),
    ("sos_logs/sos.log", ""),
    ("sos_reports/manifest.json", "{}\n"),
    (
        "sos_commands/kernel/uname_-a",
        "Linux cell-7 5.14.0-503.14.1.el9_5.x86_64+rt #1 SMP PREEMPT_RT Fri Oct 25 08:02:11 EDT 2024 x86_64 x86_64 x86_64 GNU/Linux\n",
    ),
    (
        "sos_commands/kernel/sysctl_-a",
        "abi.vsyscall32 = 1\nkernel.hung_task_timeout_secs = 600\nkernel.nmi_watchdog = 0\nkernel.numa_balancing = 0\n\
         kernel.sched_autogroup_enabled = 0\nkernel.sched_rt_period_us = 1000000\nkernel.sched_rt_runtime_us = -1\n\
         kernel.sched_schedstats = 0\nkernel.soft_watchdog = 0\nkernel.timer_migration = 0\nkernel.watchdog = 0\n\
         net.ipv4.conf.eth0/1.forwarding = 0\nvm.stat_interval = 10\nvm.swappiness = 10\nvm.overcommit_memory = 0\n\
         sysctl: reading key \"kernel.spl.hostid\"\n",
    ),
    (
        "sos_commands/kernel/dmesg",
        "[    0.000000] Linux version 5.14.0-503.14.1.el9_5.x86_64+rt (mockbuild@x) (gcc) #1 SMP PREEMPT_RT\n\
         [    0.000000] Command line: root=/dev/sda1\n[    0.012345] tsc: Detected 2600.000 MHz processor\n",
    ),
    (
        "sos_commands/boot/ls_-lanR_.boot",
        "/boot:\ntotal 180000\ndr-xr-xr-x.  5 0 0     4096 Nov  1 10:00 .\ndr-xr-xr-x. 18 0 0      235 Nov  1 10:00 ..\n\
         -rw-r--r--.  1 0 0   226000 Oct 25 08:02 config-5.14.0-503.14.1.el9_5.x86_64+rt\n\
         drwx------.  3 0 0     4096 Jan  1  1970 efi\n\
         -rwxr-xr-x.  1 0 0 14000000 Oct 25 08:02 vmlinuz-5.14.0-503.14.1.el9_5.x86_64+rt\n\n\
         /boot/efi:\ntotal 4\ndrwx------. 3 0 0 4096 Jan  1  1970 vmlinuz-of-another-directory\n",
    ),
    (
        "boot/config-5.14.0-503.14.1.el9_5.x86_64+rt",
        "CONFIG_PREEMPT_RT=y\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_HZ=1000\nCONFIG_TRACING=y\nCONFIG_AUDIT=y\nCONFIG_CPU_FREQ=y\nCONFIG_CPU_IDLE=y\n",
    ),
    (
        "proc/cmdline",
        "root=/dev/sda1 isolcpus=managed_irq,domain,2-3 nohz_full=2-3 rcu_nocbs=2-3 skew_tick=1\n",
    ),
    ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc tsc_deadline_timer\n"),
    (
        "proc/interrupts",
        "           CPU0       CPU1       CPU2       CPU3\n  24:  5  0  0  0  IR-PCI-MSI 0-edge  eth0\n",
    ),
    ("proc/irq/24/smp_affinity_list", "0-1\n"),
    ("proc/irq/24/effective_affinity_list", "0\n"),
    ("proc/irq/24/eth0/.keep", ""),
    ("proc/irq/default_smp_affinity", "3\n"),
    ("proc/1/mountinfo", "22 1 8:1 / / rw - xfs /dev/sda1 rw\n"),
    ("proc/modules", "kvm 1 0 - Live 0x0\n"),
    ("proc/sys/kernel/tainted", "0\n"),
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/present", "0-3\n"),
    ("sys/devices/system/cpu/possible", "0-3\n"),
    ("sys/devices/system/cpu/isolated", "2-3\n"),
    ("sys/devices/system/cpu/nohz_full", "2-3\n"),
    ("sys/devices/system/cpu/smt/control", "forceoff\n"),
    ("sys/devices/system/cpu/smt/active", "0\n"),
    ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm \n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("etc/security/limits.conf", "# none\n"),
    ("etc/systemd/system.conf", "[Manager]\n"),
];

fn unpacked(root: &Path) {
    for (path, text) in FILES {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        fs::write(path, text).expect("written");
    }
}

fn options() -> CheckOptions {
    CheckOptions {
        cpus: Some("2-3".parse().expect("a list")),
        priority: Some(80),
        ..CheckOptions::of(Profile::Realtime)
    }
}

#[test]
fn an_unpacked_sosreport() {
    let dir = tempfile::tempdir().expect("a directory");
    unpacked(dir.path());
    let tree = FsRoot::open(dir.path()).expect("opened");
    let known = [
        "preempt-rt: pass",
        "rt-kernel-not-booted: pass",
        "rt-throttling: pass",
        "smt: pass",
        "governor: pass",
        "clocksource: pass",
        "irq-affinity: pass",
        // sos keeps a list of processes, and no thread's scheduling as the kernel shows it.
        "rogue-rt-threads: unknown",
    ];
    judged("sosreport", &tree, &options(), &known);
}

/// It has the running kernel's configuration alone in /boot: which kernels are installed it cannot know.
#[test]
fn what_is_installed_is_known_from_the_listing_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    unpacked(dir.path());
    fs::remove_file(dir.path().join("sos_commands/boot/ls_-lanR_.boot")).expect("removed");
    let uname =
        "Linux h 5.14.0-503.14.1.el9_5.x86_64 #1 SMP PREEMPT_DYNAMIC Fri Oct 25 2024 x86_64 GNU/Linux\n";
    fs::write(dir.path().join("sos_commands/kernel/uname_-a"), uname).expect("written");
    let tree = FsRoot::open(dir.path()).expect("opened");
    let known = ["preempt-rt: error", "rt-kernel-not-booted: unknown"];
    judged("sosreport-without-boot", &tree, &options(), &known);
}
