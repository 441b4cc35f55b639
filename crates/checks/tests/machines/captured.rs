//! Machines captured in virtual machines (`fixtures/README.md`): Debian's kernels, two CPUs each.

use crate::{fixture, judged};
use whylate_checks::{CheckOptions, Profile};
use whylate_host::FsRoot;

#[track_caller]
fn captured(kernel: &str, known: &[&str]) {
    let tree = FsRoot::open(&fixture(&format!("{kernel}.snapshot"))).expect("a snapshot");
    judged(kernel, &tree, &CheckOptions::of(Profile::Realtime), known);
}

#[test]
fn without_preempt_rt() {
    captured("6.1", &["preempt-rt: error", "fair-server: n/a", "rt-throttling: warning"]);
    captured("6.12", &["preempt-rt: error", "fair-server: info", "rt-throttling: pass"]);
    captured("7.2", &["preempt-rt: error", "fair-server: info", "rt-throttling: unknown"]);
}

/// 6.1-rt has /sys/kernel/realtime, 7.2-rt does not; without the configuration of 7.2, RT_GROUP_SCHED is unknown.
#[test]
fn with_preempt_rt() {
    captured("6.1-rt", &["preempt-rt: pass", "fair-server: n/a", "rt-throttling: warning"]);
    captured("6.12-rt", &["preempt-rt: pass", "fair-server: info", "rt-throttling: pass"]);
    captured("7.2-rt", &["preempt-rt: pass", "fair-server: info", "rt-throttling: unknown"]);
}

/// A guest of arm64: a device tree instead of firmware tables, an architected timer, no flags of x86.
#[test]
fn of_arm64() {
    let known = [
        "preempt-rt: pass",
        "hypervisor: warning",
        "clocksource: pass",
        "timer-device: pass",
        "nmi-watchdog: pass",
        "smi: n/a",
        "machine-check-polling: n/a",
        "clocksource-watchdog: n/a",
        "c-states: n/a",
        "raspberry-pi-throttled: n/a",
        "memory-frequency: n/a",
        "jetson-power-mode: n/a",
    ];
    captured("6.12-rt-arm64", &known);
}

/// A guest of KVM with a kernel and devices of its own, control groups of version 1, and neither firmware tables nor
/// modules: what the lab's virtual machines all have.
#[test]
fn a_guest_in_use() {
    let tree = FsRoot::open(&fixture("6.18-guest.snapshot")).expect("a snapshot");
    let known = [
        "preempt-rt: error",
        "rt-group-sched: pass",
        "clocksource: pass",
        "guest-clock: n/a",
        "steal-time: warning",
        "governor: n/a",
        "rt-uclamp: n/a",
        "efi-runtime: n/a",
        "smi: unknown",
    ];
    judged("6.18-guest", &tree, &CheckOptions::of(Profile::RealtimeVirtualGuest), &known);
}
