//! The real-time CPUs, and the isolated ones.

use super::common;
use crate::{CannotTell, CheckOptions};
use whylate_base::{Cpu, CpuSet};
use whylate_host::Snapshot;

/// The text without known real-time CPUs.
pub(in crate::rules) const NO_CPUS_CHOSEN: &str = "No CPU is isolated: select the real-time CPUs with --cpus";

/// The chosen CPUs; by default the isolated ones. `None`: there are none.
pub(in crate::rules) fn real_time(
    host: &Snapshot,
    options: &CheckOptions,
) -> Result<Option<CpuSet>, CannotTell> {
    // An unknown machine gives no result, whatever the options.
    let online = host.cpus.online.need()?;
    let cpus = match &options.cpus {
        Some(cpus) => cpus.clone(),
        None => {
            let boot = host.cpus.isolated.need()?;
            match boot.is_empty() {
                true => partitioned(host)?,
                false => boot.clone(),
            }
        }
    };
    if let Some(cpu) = options.cpus.iter().flat_map(CpuSet::iter).find(|&cpu| !online.contains(cpu)) {
        return Err(CannotTell::because(&host.cpus.online.path, format!("CPU {cpu} is not online")));
    }
    Ok((!cpus.is_empty()).then_some(cpus))
}

/// The CPUs without load balancing: by `isolcpus=`, or by a cpuset that isolates.
pub(in crate::rules) fn isolated(host: &Snapshot) -> Result<CpuSet, CannotTell> {
    let boot = host.cpus.isolated.need()?;
    Ok(boot.iter().chain(partitioned(host)?.iter()).collect())
}

/// The CPUs that a cpuset isolates: an isolated partition (v2), or one without load balancing that shares no CPU
/// with one that balances (v1).
pub(in crate::rules) fn partitioned(host: &Snapshot) -> Result<CpuSet, CannotTell> {
    let groups = host.cgroups.groups.need()?;
    let (mut isolated, mut alone, mut balanced) = (Vec::new(), Vec::new(), Vec::new());
    for group in groups {
        if group.partition.if_present()?.is_some_and(|kind| kind == "isolated") {
            isolated.extend(group.cpus_effective.need()?.iter());
        }
        match group.sched_load_balance.if_present()? {
            Some(true) => balanced.extend(group.cpus.need()?.iter()),
            Some(false) => alone.extend(group.cpus.need()?.iter()),
            None => {}
        }
    }
    let alone = alone.into_iter().filter(|cpu| !balanced.contains(cpu));
    Ok(isolated.into_iter().chain(alone).collect())
}

/// The CPUs of `a` that are not in `b`.
pub(in crate::rules) fn without(a: &CpuSet, b: &CpuSet) -> CpuSet {
    a.iter().filter(|&cpu| !b.contains(cpu)).collect()
}

/// The online CPUs that are left for housekeeping.
pub(in crate::rules) fn housekeeping(host: &Snapshot, cpus: &CpuSet) -> Result<CpuSet, CannotTell> {
    Ok(without(host.cpus.online.need()?, cpus))
}

/// A CPU list of the kernel's command line, which may have `N` for the last CPU, `all`, and `0-31:1/2` for the
/// first of every two (Documentation/admin-guide/kernel-parameters.rst). CPUs that the machine does not have
/// are left out. `None`: not understood.
pub(in crate::rules) fn of_parameter(list: &str, possible: &CpuSet) -> Option<CpuSet> {
    let last = possible.iter().last()?.0;
    let number = |text: &str| if text == "N" { Some(last) } else { text.parse::<u32>().ok() };
    let mut cpus = CpuSet::new();
    for part in list.split(',') {
        let (range, pattern) = match part.split_once(':') {
            Some((range, pattern)) => (range, Some(pattern.split_once('/')?)),
            None => (part, None),
        };
        let (first, end) = match range.split_once('-') {
            _ if range == "all" => (0, last),
            Some((first, end)) => (number(first)?, number(end)?),
            None => (number(range)?, number(range)?),
        };
        let (used, group) = match pattern {
            Some((used, group)) => (number(used)?, number(group)?),
            None => (1, 1),
        };
        if group == 0 || used > group || first > end {
            return None;
        }
        for cpu in (first..=end.min(last)).filter(|cpu| (cpu - first) % group < used) {
            cpus.insert(Cpu(cpu));
        }
    }
    Some(common(&cpus, possible))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use whylate_host::FsRoot;

    #[test]
    fn lists_of_the_command_line() {
        let possible: CpuSet = "0-7".parse().expect("a list");
        for (list, expected) in [
            ("1-3,5", Some("1-3,5")),
            ("all", Some("0-7")),
            ("N", Some("7")),
            ("4-N", Some("4-7")),
            ("0-7:1/2", Some("0,2,4,6")),
            ("6-100", Some("6-7")),
            ("nohz,1", None),
            ("3-1", None),
            ("0-7:1/0", None),
            ("", None),
        ] {
            let cpus = of_parameter(list, &possible).map(|cpus| cpus.to_string());
            assert_eq!(cpus.as_deref(), expected, "{list}");
        }
    }

    #[test]
    fn what_is_isolated() {
        const BOOT: (&str, &str) = ("/sys/devices/system/cpu/isolated", "\n");
        const ONLINE: (&str, &str) = ("/sys/devices/system/cpu/online", "0-3\n");
        let isolated = |files: &[(&str, &str)]| {
            let host = Snapshot::read(&FsRoot::memory(&[&[BOOT, ONLINE], files].concat()));
            let options = CheckOptions::of(Profile::Realtime);
            real_time(&host, &options).map(|cpus| cpus.map_or(String::new(), |cpus| cpus.to_string()))
        };
        let v2 = ("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
        let effective = ("/sys/fs/cgroup/rt/cpuset.cpus.effective", "2-3\n");
        let partition = |kind| [v2, effective, ("/sys/fs/cgroup/rt/cpuset.cpus.partition", kind)];
        assert_eq!(isolated(&partition("isolated\n")).as_deref(), Ok("2-3"));
        assert_eq!(isolated(&partition("root\n")).as_deref(), Ok(""));
        assert_eq!(isolated(&partition("isolated invalid (x)\n")).as_deref(), Ok(""));
        let v1 = |root| {
            [
                ("/proc/self/mounts", "cgroup /cg cgroup rw,cpuset 0 0\n"),
                ("/cg/cpuset.cpus", "0-3\n"),
                ("/cg/cpuset.sched_load_balance", root),
                ("/cg/rt/cpuset.cpus", "1\n"),
                ("/cg/rt/cpuset.sched_load_balance", "0\n"),
            ]
        };
        assert_eq!(isolated(&v1("1\n")).as_deref(), Ok(""), "the root still balances over all");
        assert_eq!(isolated(&v1("0\n")).as_deref(), Ok("0-3"));
        assert!(isolated(&[]).is_err(), "no groups to see");
    }
}
