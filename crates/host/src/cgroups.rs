//! Control groups, v1 and v2: which CPUs a group has, how much of them, and how much real-time.

use crate::table::readings;
use crate::{FsRoot, Reading, Why};
use std::collections::VecDeque;

/// More groups are not looked at; machines with containers have thousands.
const MOST: usize = 512;
/// Nor deeper ones.
const DEEPEST: usize = 5;

/// How control groups are mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgroupVersion {
    /// One hierarchy for each controller.
    V1,
    /// One hierarchy.
    V2,
    /// v1 controllers and an additional v2 hierarchy.
    Hybrid,
}

/// The control groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Cgroups {
    /// How they are mounted.
    pub version: Reading<CgroupVersion>,
    /// The groups with CPUs or CPU time of their own, outer ones first. In v1 those of the controllers `cpu`
    /// and `cpuset`, each for itself.
    pub groups: Reading<Vec<Cgroup>>,
    /// Whether there were more groups than are looked at.
    pub truncated: bool,
}

readings! {
    /// A control group. What its version or controllers do not have is `Missing`.
    pub struct Cgroup {
        /// v2: `max 100000`: microseconds of each period.
        pub cpu_max: String = "cpu.max",
        /// v1: microseconds of each period; -1: no limit.
        pub cfs_quota_us: i64 = "cpu.cfs_quota_us",
        /// v1 with RT_GROUP_SCHED: microseconds of each period for real-time threads; 0: they get EPERM.
        pub rt_runtime_us: i64 = "cpu.rt_runtime_us",
        /// v1 with RT_GROUP_SCHED: the period, microseconds.
        pub rt_period_us: i64 = "cpu.rt_period_us",
        /// The requested CPUs; empty: those of the parent.
        pub cpus: whylate_base::CpuSet = "cpuset.cpus",
        /// The CPUs it gets (v2, and v1 as `effective_cpus`).
        pub cpus_effective: whylate_base::CpuSet = "cpuset.cpus.effective",
        /// v2: `member`, `root`, `isolated`, or `... invalid (reason)`.
        pub partition: String = "cpuset.cpus.partition",
        /// v1: whether the scheduler balances load among its CPUs.
        pub sched_load_balance: bool = "cpuset.sched_load_balance",
        /// v1: whether no sibling may share its CPUs.
        pub cpu_exclusive: bool = "cpuset.cpu_exclusive",
    }
}

impl Cgroup {
    /// The group's directory.
    pub fn path(&self) -> &str {
        self.cpus.path.strip_suffix("/cpuset.cpus").unwrap_or(&self.cpus.path)
    }
}

impl Cgroups {
    pub(crate) fn read(tree: &FsRoot) -> Cgroups {
        let mounts = tree.text("/proc/self/mounts").and_then(|text| Ok(mounts(text)));
        let version = mounts.and_then(|(v1, v2)| match (v1.is_empty(), v2.is_empty()) {
            (true, false) => Ok(CgroupVersion::V2),
            (false, true) => Ok(CgroupVersion::V1),
            (false, false) => Ok(CgroupVersion::Hybrid),
            (true, true) => Err(Why::NotMounted { at: "/sys/fs/cgroup".to_owned() }),
        });
        let mut truncated = false;
        let groups = mounts.and_then(|(v1, v2)| {
            let roots = v1.iter().chain(v2).cloned();
            walk(tree, roots.map(|root| (root, 0)).collect(), &mut truncated)
        });
        Cgroups { version, groups, truncated }
    }
}

/// The mount points of v1 controllers that schedule, and those of v2.
fn mounts(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut v1, mut v2) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, at, kind, options, ..] = words[..] else { continue };
        let schedules = options.split(',').any(|option| matches!(option, "cpu" | "cpuset"));
        match kind {
            "cgroup" if schedules => v1.push(at.to_owned()),
            "cgroup2" => v2.push(at.to_owned()),
            _ => {}
        }
    }
    (v1, v2)
}

fn walk(
    tree: &FsRoot,
    mut todo: VecDeque<(String, usize)>,
    truncated: &mut bool,
) -> Result<Vec<Cgroup>, Why> {
    let mut groups = Vec::new();
    let mut visited = 0;
    while let Some((dir, depth)) = todo.pop_front() {
        let names = match tree.list(&dir).value {
            Ok(names) => names,
            // A group may end while others are looked at; that of a mount point may not.
            Err(Why::Missing) if depth > 0 => continue,
            Err(why) => return Err(why),
        };
        visited += 1;
        if visited > MOST {
            *truncated = true;
            break;
        }
        if names.iter().any(|name| name.starts_with("cpu.") || name.starts_with("cpuset.")) {
            groups.push(Cgroup::read(tree, &dir));
        }
        // Files of a group have a dot in their names; of its children only those named so have a suffix.
        let child = |name: &&String| {
            const UNITS: [&str; 4] = [".slice", ".service", ".scope", ".mount"];
            !name.contains('.') && !matches!(name.as_str(), "tasks" | "notify_on_release" | "release_agent")
                || UNITS.iter().any(|unit| name.ends_with(unit))
        };
        let children = names.iter().filter(child).map(|name| (format!("{dir}/{name}"), depth + 1));
        match depth < DEEPEST {
            true => todo.extend(children),
            false => *truncated |= children.count() > 0,
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions() {
        let v2 = Cgroups::read(&FsRoot::memory(&[
            ("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
            ("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
            ("/sys/fs/cgroup/rt.slice/cpuset.cpus", "2-3\n"),
            ("/sys/fs/cgroup/rt.slice/cpuset.cpus.partition", "isolated\n"),
        ]));
        assert_eq!(v2.version.known(), Some(&CgroupVersion::V2));
        let groups = v2.groups.need().expect("groups");
        assert_eq!(groups[0].path(), "/sys/fs/cgroup/rt.slice");
        assert_eq!(groups[0].partition.known().map(String::as_str), Some("isolated"));
        let v1 = Cgroups::read(&FsRoot::memory(&[
            (
                "/proc/self/mounts",
                "cgroup /cg/cpu cgroup rw,cpu,cpuacct 0 0\ncgroup /cg/pids cgroup rw,pids 0 0\n",
            ),
            ("/cg/cpu/user/cpu.rt_runtime_us", "0\n"),
        ]));
        assert_eq!(v1.version.known(), Some(&CgroupVersion::V1));
        assert_eq!(v1.groups.need().expect("groups")[0].rt_runtime_us.known(), Some(&0));
        let none = Cgroups::read(&FsRoot::memory(&[("/proc/self/mounts", "")]));
        assert!(none.version.need().is_err());
    }
}
