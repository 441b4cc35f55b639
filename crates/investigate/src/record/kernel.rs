//! What is true of the kernel and no event shows: its build, its scheduler's settings.
//!
//! Each answer is `None` where it could not be read: nothing is assumed.

use flate2::read::GzDecoder;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use whylate_base::CpuSet;

/// `kernel.sched_rt_runtime_us`, `kernel.sched_rt_period_us` and their like.
pub(super) fn sysctl(name: &str) -> Option<i64> {
    fs::read_to_string(Path::new("/proc/sys/kernel").join(name)).ok()?.trim().parse().ok()
}

/// Whether real-time throttling is by CONFIG_RT_GROUP_SCHED and in force.
pub(super) fn rt_group_sched() -> Option<bool> {
    let config = config();
    let built = match &config {
        Some(config) => config.lines().any(|line| line == "CONFIG_RT_GROUP_SCHED=y"),
        // A cgroup v1 CPU controller has this file only when it is built in.
        None => ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"]
            .iter()
            .any(|cpu| Path::new(cpu).join("cpu.rt_runtime_us").exists())
            .then_some(true)?,
    };
    let off_by_default = config
        .is_some_and(|config| config.lines().any(|line| line == "CONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED=y"));
    let command_line = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    Some(built && boot_switch(&command_line, "rt_group_sched").unwrap_or(!off_by_default))
}

/// The last `name=0` or `name=1` of a kernel command line.
fn boot_switch(command_line: &str, name: &str) -> Option<bool> {
    let words = command_line.split_ascii_whitespace().rev();
    let value = words.filter_map(|word| word.strip_prefix(name)?.strip_prefix('=')).next()?;
    match value {
        "1" | "on" | "y" => Some(true),
        "0" | "off" | "n" => Some(false),
        _ => None,
    }
}

/// The running kernel's build configuration.
fn config() -> Option<String> {
    let mut text = String::new();
    if let Ok(file) = File::open("/proc/config.gz") {
        // Far more than any kernel's: what unpacks to more is no configuration.
        GzDecoder::new(file).take(16 << 20).read_to_string(&mut text).ok()?;
        return Some(text);
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let release = release.trim();
    [format!("/boot/config-{release}"), format!("/lib/modules/{release}/config")]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok())
}

/// Names and taints of the loaded modules that taint the kernel; none where the list cannot be read.
pub(super) fn tainted_modules() -> Vec<(String, String)> {
    let list = fs::read_to_string("/proc/modules").unwrap_or_default();
    whylate_host::parse_module_taints(&list)
}

/// Whether it is a PREEMPT_RT kernel: its version shows it (`uname -v`).
pub(super) fn preempt_rt() -> Option<bool> {
    let version = fs::read_to_string("/proc/sys/kernel/version").ok()?;
    Some(version.split_ascii_whitespace().any(|word| word == "PREEMPT_RT"))
}

/// The fair server's runtime per period in ns, if it is the same on all CPUs.
/// It is in debugfs only, which lockdown and a missing mount both hide.
pub(super) fn fair_server_ns() -> Option<u64> {
    let cpus = fs::read_dir("/sys/kernel/debug/sched/fair_server").ok()?;
    let runtime =
        |cpu: fs::DirEntry| fs::read_to_string(cpu.path().join("runtime")).ok()?.trim().parse().ok();
    let mut runtimes = cpus.flatten().map(runtime);
    let first: u64 = runtimes.next()??;
    runtimes.all(|runtime| runtime == Some(first)).then_some(first)
}

/// The CPUs among which the scheduler does not balance; `None` where there are none.
pub(super) fn isolated() -> Option<CpuSet> {
    let list = fs::read_to_string("/sys/devices/system/cpu/isolated").ok()?;
    list.trim().parse().ok().filter(|cpus: &CpuSet| !cpus.is_empty())
}

/// Whether the machine is a guest: the `hypervisor` CPU flag, which x86 alone shows.
pub(super) fn hypervisor() -> Option<bool> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").ok()?;
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags")?.split_once(':'))?.1;
    Some(flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boot_parameters_override() {
        assert_eq!(boot_switch("quiet rt_group_sched=0", "rt_group_sched"), Some(false));
        assert_eq!(boot_switch("rt_group_sched=0 rt_group_sched=1", "rt_group_sched"), Some(true));
        assert_eq!(boot_switch("xrt_group_sched=0 rt_group_sched", "rt_group_sched"), None);
    }
}
