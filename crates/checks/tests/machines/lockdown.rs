//! A laptop with Secure Boot: the kernel is locked down to confidentiality, so that debugfs refuses even root
//! (kernel_lockdown(7)), and the process is not root.

use crate::files::Files;
use crate::judged;
use whylate_checks::{CheckOptions, Profile};
use whylate_host::Why;

#[test]
fn what_lockdown_hides_is_not_known() {
    let mut files = Files::kernel(
        "6.12.0-124.el10.x86_64",
        "#1 SMP PREEMPT_DYNAMIC Tue Sep  2 10:00:00 UTC 2025",
        "CONFIG_PREEMPT_DYNAMIC=y\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_HZ=1000\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_TRACING=y\nCONFIG_AUDIT=y\nCONFIG_SECURITY_LOCKDOWN_LSM=y\n",
    );
    files
        .cpus_wired(8, |cpu| (0, cpu / 2, format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1)))
        .set("/sys/devices/system/cpu/smt/control", "on")
        .set("/sys/devices/system/cpu/smt/active", "1")
        .set("/sys/kernel/security/lockdown", "none integrity [confidentiality]")
        .set("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/mapper/root ro quiet")
        .set("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc")
        .clock("tsc", "tsc acpi_pm")
        .each_cpu(8, "cpufreq/scaling_driver", "intel_pstate")
        .each_cpu(8, "cpufreq/scaling_governor", "powersave")
        .frequencies(("400000", "4700000"), ("400000", "4700000"))
        .set("/proc/irq/default_smp_affinity", "ff")
        .irq(120, "nvme0q0", "0-7", "3")
        .set("/sys/firmware/efi/runtime", "0x0")
        // What debugfs shows of a directory that may be listed and not read.
        .debugfs(8);
    let mut tree = files.tree();
    for cpu in 0..8 {
        for file in ["runtime", "period"] {
            let path = format!("/sys/kernel/debug/sched/fair_server/cpu{cpu}/{file}");
            tree = tree.refused(&path, Why::Denied);
        }
    }
    for path in ["/sys/kernel/debug/sched/features", "/sys/kernel/debug/sched/preempt", "/dev/kmsg"] {
        tree = tree.refused(path, Why::Denied);
    }
    let known = ["preempt-rt: error", "fair-server: unknown", "smt: warning", "clocksource: pass"];
    judged("lockdown", &tree, &CheckOptions::of(Profile::Realtime), &known);
}
