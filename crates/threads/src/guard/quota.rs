//! Does a control group's quota stop a thread? Then it waits as its administrator wants, and is not helped.

use whylate_base::Tid;
use whylate_host::FsRoot;

/// How often the control groups of a process have used up their quotas of CPU time, all together; `None`: none has a quota,
/// or it cannot be read.
///
/// `nr_throttled` of `cpu.stat` (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst)
pub(super) fn stops(tree: &FsRoot, pid: Tid) -> Option<u64> {
    let lines = tree.text(&format!("/proc/{pid}/cgroup")).value.ok()?;
    let stops = lines.lines().filter_map(directory).flat_map(|directory| of_group(tree, &directory));
    stops.reduce(|a, b| a + b)
}

/// The directory of a line of `/proc/PID/cgroup`: `0::/a/b` (v2), `4:cpu,cpuacct:/a/b` (v1).
fn directory(line: &str) -> Option<(Vec<&'static str>, String)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let mounts = match controllers {
        "" => vec!["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
        names if names.split(',').any(|name| name == "cpu") => {
            vec!["/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu"]
        }
        _ => return None,
    };
    Some((mounts, path.trim_end_matches('/').to_owned()))
}

/// The group's own stops, and those of the groups that it is in.
fn of_group(tree: &FsRoot, (mounts, path): &(Vec<&'static str>, String)) -> Vec<u64> {
    let ends = path.match_indices('/').skip(1).map(|(at, _)| at).chain([path.len()]);
    let groups: Vec<&str> = ends.map(|end| &path[..end]).filter(|group| !group.is_empty()).collect();
    groups
        .iter()
        .filter_map(|group| mounts.iter().find_map(|mount| throttled(tree, &format!("{mount}{group}"))))
        .collect()
}

fn throttled(tree: &FsRoot, group: &str) -> Option<u64> {
    let text = |name: &str| tree.text(&format!("{group}/{name}")).value.ok();
    let has_quota = match text("cpu.max") {
        Some(max) => !max.starts_with("max"),
        None => text("cpu.cfs_quota_us")?.trim() != "-1",
    };
    let stat = text("cpu.stat").filter(|_| has_quota)?;
    stat.lines().find_map(|line| line.strip_prefix("nr_throttled "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quotas_of_all_outer_groups_count() {
        let stat = "usage_usec 5\nnr_periods 9\nnr_throttled 7\n";
        let tree = FsRoot::memory(&[
            ("/proc/1/cgroup", "0::/a.slice/b\n"),
            ("/sys/fs/cgroup/a.slice/cpu.max", "50000 100000\n"),
            ("/sys/fs/cgroup/a.slice/cpu.stat", stat),
            ("/sys/fs/cgroup/a.slice/b/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/a.slice/b/cpu.stat", stat),
            ("/proc/2/cgroup", "3:memory:/m\n2:cpu,cpuacct:/c\n0::/\n"),
            ("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "1000\n"),
            ("/sys/fs/cgroup/cpu/c/cpu.stat", "nr_periods 1\nnr_throttled 4\n"),
            ("/proc/3/cgroup", "0::/\n"),
        ]);
        assert_eq!(stops(&tree, Tid(1)), Some(7));
        assert_eq!(stops(&tree, Tid(2)), Some(4));
        assert_eq!(stops(&tree, Tid(3)), None);
        assert_eq!(stops(&tree, Tid(4)), None);
    }
}
