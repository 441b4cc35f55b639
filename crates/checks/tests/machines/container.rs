//! A container that has /proc and no /sys: what it cannot see must not look well.

use crate::files::Files;
use crate::judged;
use whylate_checks::{CheckOptions, Profile, RuleStatus};

#[test]
fn without_sys_little_is_known() {
    let mut files =
        Files::kernel("6.8.0-60-generic", "#63-Ubuntu SMP PREEMPT_DYNAMIC Tue Apr 15 19:04:15 UTC 2025", "");
    files
        .without("/sys")
        .without("/boot")
        .without("/etc/systemd")
        .without("/usr/lib/systemd")
        // Its own processes alone are seen.
        .without("/proc/2")
        .set("/proc/cmdline", "BOOT_IMAGE=/vmlinuz-6.8.0-60-generic root=LABEL=cloudimg-rootfs ro")
        .set("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc hypervisor")
        .set("/proc/irq/default_smp_affinity", "f")
        .irq(24, "virtio0-input.0", "0-3", "1")
        .set("/proc/1/comm", "sh")
        .set("/proc/1/cgroup", "0::/")
        .set("/.dockerenv", "")
        .set("/proc/self/mounts", "overlay / overlay rw 0 0\nproc /proc proc rw 0 0");
    let known = [
        "preempt-rt: error",
        "rt-kernel-not-booted: unknown",
        "rt-throttling: warning",
        "smt: unknown",
        "governor: unknown",
        "clocksource: unknown",
        "irq-affinity: unknown",
        "irqbalance: unknown",
        "rogue-rt-threads: unknown",
        "tuned-profile: unknown",
    ];
    let report = judged("container-without-sys", &files.tree(), &CheckOptions::of(Profile::Realtime), &known);
    for answered in &report.answers {
        let Ok(answer) = &answered.verdict else { continue };
        let from_sys = answer.evidence.iter().any(|proof| proof.path.starts_with("/sys/"));
        assert!(!(answer.status == RuleStatus::Pass && from_sys), "{answered:#?}");
    }
}
