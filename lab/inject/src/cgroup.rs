//! A control group of this run's own, removed when the run is over.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use whylate_base::Ns;

/// A fresh control group.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
    /// Where this process was before it entered, by its file of logs.
    home: Option<PathBuf>,
}

impl Group {
    /// A group of version 2 in which threads may use `quota` of CPU time in each `period`
    /// (`cpu.max`, Documentation/admin-guide/cgroup-v2.rst).
    ///
    /// # Errors
    /// Without version 2, its `cpu` controller, or the right to make groups.
    pub(crate) fn with_quota(quota: Ns, period: Ns) -> Result<Group> {
        let root = mounted("cgroup2", None)
            .context("no cgroup2 is mounted: mount -t cgroup2 none /sys/fs/cgroup")?;
        write(&root.join("cgroup.subtree_control"), "+cpu")
            .context("the cpu controller is not available in version 2 of control groups")?;
        let group = Group::make(&root)?;
        write(&group.path.join("cpu.max"), &format!("{} {}", quota.0 / 1_000, period.0 / 1_000))?;
        Ok(group)
    }

    /// A group of version 1 with nothing in `cpu.rt_runtime_us`, which is what a new one has
    /// (Documentation/scheduler/sched-rt-group.rst).
    ///
    /// # Errors
    /// Where the kernel lacks CONFIG_RT_GROUP_SCHED, or the hierarchy is not mounted.
    pub(crate) fn without_rt_runtime() -> Result<Group> {
        let root = mounted("cgroup", Some("cpu"))
            .context("the cpu controller's version 1 is not mounted: mount -t cgroup -o cpu none DIR")?;
        let group = Group::make(&root)?;
        let runtime = group.path.join("cpu.rt_runtime_us");
        ensure!(runtime.exists(), "{} is missing: the kernel lacks CONFIG_RT_GROUP_SCHED", runtime.display());
        write(&runtime, "0")?;
        Ok(group)
    }

    fn make(root: &Path) -> Result<Group> {
        let path = root.join(format!("whylate-inject-{}", std::process::id()));
        fs::create_dir(&path)
            .with_context(|| format!("cannot create the control group {}", path.display()))?;
        Ok(Group { path, home: None })
    }

    /// The file a process joins by.
    pub(crate) fn members_file(&self) -> PathBuf {
        self.path.join("cgroup.procs")
    }

    /// Moves this process in, with all threads it has and will have.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub(crate) fn enter(&mut self) -> Result<()> {
        let root = self.path.parent().unwrap_or(&self.path);
        let own = fs::read_to_string("/proc/self/cgroup").context("/proc/self/cgroup")?;
        let relative = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
        self.home = Some(root.join(relative).join("cgroup.procs"));
        join(&self.members_file())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A failure is ignored: the run is over, and an empty group has no effect.
        if let Some(home) = &self.home {
            let _ = join(home);
        }
        let _ = fs::remove_dir(&self.path);
    }
}

/// Moves this process to the group of that `cgroup.procs`.
///
/// # Errors
/// When the kernel refuses it.
pub(crate) fn join(members_file: &Path) -> Result<()> {
    write(members_file, "0")
}

fn write(path: &Path, value: &str) -> Result<()> {
    fs::write(path, value).with_context(|| format!("cannot write {value:?} to {}", path.display()))
}

fn mounted(kind: &str, option: Option<&str>) -> Option<PathBuf> {
    find_mount(&fs::read_to_string("/proc/self/mounts").ok()?, kind, option)
}

/// The first mount of that type, with that option, in the format of proc_pid_mounts(5).
fn find_mount(mounts: &str, kind: &str, option: Option<&str>) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (place, found, options) = (fields.next()?, fields.next()?, fields.next()?);
        let right = found == kind && option.is_none_or(|option| options.split(',').any(|has| has == option));
        right.then(|| PathBuf::from(place))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_by_type_and_option() {
        let mounts = "proc /proc proc rw 0 0\n\
                      none /cg/cpuset cgroup rw,cpuset 0 0\n\
                      none /cg/cpu cgroup rw,cpu,cpuacct 0 0\n\
                      none /cg/unified cgroup2 rw,nsdelegate 0 0\n";
        assert_eq!(find_mount(mounts, "cgroup2", None), Some("/cg/unified".into()));
        assert_eq!(find_mount(mounts, "cgroup", Some("cpu")), Some("/cg/cpu".into()));
        assert_eq!(find_mount(mounts, "cgroup", Some("memory")), None);
        assert_eq!(find_mount("cgroup2\n\nx /y cgroup2", "cgroup2", None), None);
    }
}
