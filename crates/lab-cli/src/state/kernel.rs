//! Values of the kernel: all of /proc/sys, the affinity of each interrupt, and the parts of /sys and debugfs that affect
//! latency.

use super::values::Values;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Whole trees.
const TREES: [&str; 12] = [
    "/proc/sys",
    "/sys/kernel/debug/sched",
    "/sys/kernel/mm",
    "/sys/kernel/rcu_expedited",
    "/sys/kernel/rcu_normal",
    "/sys/devices/system/clocksource",
    "/sys/devices/system/cpu",
    "/sys/devices/system/machinecheck",
    "/sys/devices/virtual/workqueue",
    "/sys/fs/cgroup",
    "/sys/module",
    "/proc/irq",
];
/// Of each block device.
const QUEUES: &str = "/sys/block";
/// One file each.
const FILES: [&str; 2] = ["/proc/cmdline", "/proc/swaps"];
/// No value is longer.
const LONGEST: u64 = 4096;
/// No machine has more.
const MOST: usize = 100_000;

pub(super) fn all(root: &Path) -> Values {
    let mut values = Values::new();
    let queues = names(root, QUEUES).into_iter().map(|device| format!("{QUEUES}/{device}/queue"));
    let mut left: Vec<String> = TREES.into_iter().chain(FILES).map(str::to_owned).chain(queues).collect();
    while let Some(name) = left.pop() {
        let path = root.join(name.trim_start_matches('/'));
        // Links lead to where the same files have another name, or round in a circle.
        let Ok(about) = std::fs::symlink_metadata(&path) else { continue };
        if about.is_dir() && values.len() < MOST {
            left.extend(names(root, &name).into_iter().map(|entry| format!("{name}/{entry}")));
        } else if about.is_file() && is_setting(&name, about.permissions().mode()) {
            values.insert(name, read(&path));
        }
    }
    values
}

fn names(root: &Path, directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root.join(directory.trim_start_matches('/')));
    entries.into_iter().flatten().flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

/// Values that a user can set, now or at boot, but not counters and descriptions.
fn is_setting(name: &str, mode: u32) -> bool {
    let (directory, file) = name.rsplit_once('/').unwrap_or_default();
    let writable = mode & 0o222 != 0;
    if mode & 0o444 == 0 {
        // Write-only files are commands, not values.
        return false;
    }
    if name.starts_with("/proc/irq") {
        return matches!(file, "smp_affinity" | "default_smp_affinity");
    }
    if name.starts_with("/sys/fs/cgroup") {
        // A write to a pressure file is a request for a notification, not a setting.
        let setting =
            (file.starts_with("cpuset.") || file.starts_with("cpu.")) && !file.ends_with(".pressure");
        return writable && setting;
    }
    if name.starts_with("/sys/module") {
        return directory.ends_with("/parameters");
    }
    let at_boot = matches!(file, "isolated" | "nohz_full" | "cmdline" | "swaps" | "current_driver");
    writable || at_boot || name.starts_with("/proc/sys/")
}

fn read(path: &Path) -> String {
    let read = || -> io::Result<String> {
        // Never a file whose read blocks until a write.
        let file: File = OpenOptions::new().read(true).custom_flags(no_waiting()).open(path)?;
        let mut bytes = Vec::new();
        file.take(LONGEST).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    read().unwrap_or_else(|error| format!("unreadable: {error}"))
}

fn no_waiting() -> i32 {
    i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_taken_and_counters_are_not() {
        for (name, mode, taken) in [
            ("/proc/sys/kernel/sched_rt_runtime_us", 0o644, true),
            ("/proc/sys/kernel/ostype", 0o444, true),
            ("/proc/sys/vm/compact_memory", 0o200, false),
            ("/proc/irq/11/smp_affinity", 0o644, true),
            ("/proc/irq/11/effective_affinity", 0o444, false),
            ("/sys/devices/system/cpu/isolated", 0o444, true),
            ("/sys/devices/system/cpu/cpu0/topology/core_id", 0o444, false),
            ("/sys/devices/virtual/workqueue/cpumask", 0o644, true),
            ("/sys/module/rcutree/parameters/kthread_prio", 0o444, true),
            ("/sys/module/virtio/refcnt", 0o444, false),
            ("/sys/fs/cgroup/system.slice/cpuset.cpus", 0o644, true),
            ("/sys/fs/cgroup/system.slice/cpu.stat", 0o444, false),
            ("/sys/fs/cgroup/system.slice/cgroup.procs", 0o644, false),
            ("/sys/fs/cgroup/system.slice/cpu.pressure", 0o644, false),
        ] {
            assert_eq!(is_setting(name, mode), taken, "{name}");
        }
    }

    #[test]
    fn a_tree_is_read_without_its_links() {
        let root = tempfile::tempdir().expect("temporary directory");
        let file = |name: &str| root.path().join(name);
        for directory in ["proc/sys/kernel", "proc/irq/9", "sys/block/vda/queue"] {
            std::fs::create_dir_all(file(directory)).expect("directory");
        }
        std::fs::write(file("proc/sys/kernel/timer_migration"), "1\n").expect("file");
        std::fs::write(file("proc/irq/9/smp_affinity"), "f\n").expect("file");
        std::fs::write(file("sys/block/vda/queue/scheduler"), "[none] mq-deadline\n").expect("file");
        std::os::unix::fs::symlink("../sys", file("proc/sys/kernel/round")).expect("link");
        let values = all(root.path());
        let values: Vec<(&str, &str)> = values.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(
            values,
            [
                ("/proc/irq/9/smp_affinity", "f"),
                ("/proc/sys/kernel/timer_migration", "1"),
                ("/sys/block/vda/queue/scheduler", "[none] mq-deadline"),
            ]
        );
    }
}
