//! The file systems that programs expect.

use rustix::mount::{MountFlags, mount};
use std::path::Path;

/// Type, where, options; in this order, as some lie in others.
const MOUNTS: [(&str, &str, &str); 11] = [
    ("proc", "/proc", ""),
    ("sysfs", "/sys", ""),
    ("devtmpfs", "/dev", ""),
    ("devpts", "/dev/pts", ""),
    ("tmpfs", "/dev/shm", "mode=1777"),
    ("tmpfs", "/tmp", "mode=1777"),
    ("tmpfs", "/run", "mode=755"),
    ("tracefs", "/sys/kernel/tracing", ""),
    ("debugfs", "/sys/kernel/debug", ""),
    ("cgroup2", "/sys/fs/cgroup", ""),
    ("configfs", "/sys/kernel/config", ""),
];
/// Optional in kernels: a program that needs one reports it.
const OPTIONAL: [&str; 3] = ["devpts", "cgroup2", "configfs"];

/// Mounts them all; returns the failures.
pub(super) fn mount_all() -> Vec<String> {
    MOUNTS.iter().filter_map(|mount| mount_one(*mount).err()).collect()
}

fn mount_one((kind, place, options): (&str, &str, &str)) -> Result<(), String> {
    let optional = OPTIONAL.contains(&kind);
    if !Path::new(place).exists() && std::fs::create_dir_all(place).is_err() && optional {
        return Ok(());
    }
    let options = std::ffi::CString::new(options).map_err(|error| error.to_string())?;
    match mount(kind, place, kind, MountFlags::empty(), Some(options.as_c_str())) {
        Err(errno) if !optional => Err(format!("mount -t {kind} {kind} {place}: {errno}")),
        _ => Ok(()),
    }
}
