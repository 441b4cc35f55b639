//! All data that the checks need, read at once.

use crate::{
    Cgroups, Clocks, Cpus, Dmesg, FsRoot, Irqs, Kernel, Limits, Memory, Platform, Sched, Systemd, Threads,
    Tracing,
};

/// The state of a machine: plain data, one field for each subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Release, configuration, command line, modules, installed kernels.
    pub kernel: Kernel,
    /// The scheduler's settings, and those of the watchdogs.
    pub sched: Sched,
    /// Which CPUs there are, how they are wired, what they do when idle and how fast they run.
    pub cpus: Cpus,
    /// Interrupts and their CPUs.
    pub irqs: Irqs,
    /// Every thread.
    pub threads: Threads,
    /// Memory management.
    pub memory: Memory,
    /// Clock sources and timers.
    pub clocks: Clocks,
    /// Control groups.
    pub cgroups: Cgroups,
    /// Resource limits, users and groups.
    pub limits: Limits,
    /// systemd's configuration.
    pub systemd: Systemd,
    /// The kernel's tracing settings.
    pub tracing: Tracing,
    /// The kernel's messages.
    pub dmesg: Dmesg,
    /// Firmware, hypervisor, container, devices.
    pub platform: Platform,
}

impl Snapshot {
    /// Reads a machine. What cannot be read is part of the result.
    pub fn read(tree: &FsRoot) -> Snapshot {
        let kernel = Kernel::read(tree);
        let cpus = Cpus::read(tree);
        let sched = Sched::read(tree);
        Snapshot {
            irqs: Irqs::read(tree),
            threads: Threads::read(tree),
            memory: Memory::read(tree),
            clocks: Clocks::read(tree),
            cgroups: Cgroups::read(tree),
            limits: Limits::read(tree),
            systemd: Systemd::read(tree),
            tracing: Tracing::read(tree),
            dmesg: Dmesg::read(tree),
            platform: Platform::read(tree),
            kernel,
            sched,
            cpus,
        }
    }
}
