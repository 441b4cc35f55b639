//! What a process may ask of the scheduler: its capabilities, limits, namespace, seccomp filter and control group.

use crate::kernel;
use crate::limits::OwnLimits;
use crate::{FsRoot, ProcessLimit, Reading, Why};

/// `CAP_SYS_NICE`, capabilities(7).
const CAP_SYS_NICE: u64 = 1 << 23;

/// The rights of a process in scheduling. What could not be read is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedulingRights {
    /// The effective capabilities, a mask (capabilities(7)).
    pub capabilities: Option<u64>,
    /// Whether it is in a user namespace other than the first.
    pub in_user_namespace: Option<bool>,
    /// Whether a seccomp filter limits its system calls.
    pub has_seccomp_filter: Option<bool>,
    /// RLIMIT_RTPRIO.
    pub rtprio: Option<ProcessLimit>,
    /// RLIMIT_NICE, as 20 less the lowest nice value.
    pub nice: Option<ProcessLimit>,
    /// The control group that has real-time runtime of its own.
    pub rt_group: RtGroup,
}

/// Whether CONFIG_RT_GROUP_SCHED leaves the process real-time runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RtGroup {
    /// It could not be read.
    #[default]
    Unknown,
    /// The kernel does not have it, or it is switched off.
    NotInForce,
    /// It is in force; what the process's group has was not read.
    InForce,
    /// The group of the process.
    Group {
        /// The file with the runtime, or the group's directory where it has no such file (cgroup v2).
        path: String,
        /// Its runtime, microseconds of each period; -1: no limit.
        runtime_us: i64,
    },
}

impl SchedulingRights {
    /// Those of a process: `self`, or its number.
    pub fn read(tree: &FsRoot, process: &str) -> SchedulingRights {
        let directory = format!("/proc/{process}");
        let status = tree.text(&format!("{directory}/status"));
        let line = |name: &str| {
            let text = status.known()?;
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
        };
        let limits: Reading<OwnLimits> = tree.value(&format!("{directory}/limits"));
        SchedulingRights {
            capabilities: line("CapEff").and_then(|mask| u64::from_str_radix(mask, 16).ok()),
            in_user_namespace: user_namespace(&tree.text(&format!("{directory}/uid_map"))),
            has_seccomp_filter: line("Seccomp").map(|mode| mode == "2"),
            rtprio: limits.known().map(|limits| limits.rtprio),
            nice: limits.known().map(|limits| limits.nice),
            rt_group: rt_group(tree, &directory),
        }
    }

    /// Whether it has CAP_SYS_NICE in the first user namespace, as the kernel asks for (`capable()`); `None`: not known.
    pub fn may_set_any_priority(&self) -> Option<bool> {
        match (self.has_sys_nice(), self.in_user_namespace) {
            (Some(true), Some(false)) => Some(true),
            (Some(false), _) | (_, Some(true)) => Some(false),
            _ => None,
        }
    }

    /// Whether it has CAP_SYS_NICE in its own user namespace.
    pub fn has_sys_nice(&self) -> Option<bool> {
        self.capabilities.map(|mask| mask & CAP_SYS_NICE != 0)
    }
}

/// The first namespace maps all users to themselves (user_namespaces(7)).
fn user_namespace(map: &Reading<String>) -> Option<bool> {
    let text = map.known()?;
    Some(text.split_ascii_whitespace().ne(["0", "0", "4294967295"]))
}

/// The group whose runtime the kernel asks (`__sched_setscheduler()`, kernel/sched/syscalls.c).
fn rt_group(tree: &FsRoot, directory: &str) -> RtGroup {
    let Some((path, version)) = cpu_group(tree, directory) else { return by_configuration(tree) };
    let file = format!("{path}/cpu.rt_runtime_us");
    match (tree.value::<i64>(&file).value, version) {
        (Ok(runtime_us), _) => RtGroup::Group { path: file, runtime_us },
        // Version 2 has no file for it: a group with the controller has no runtime, and a thread of the groups without
        // it counts to the nearest one above that has it, or to the root (Documentation/admin-guide/cgroup-v2.rst, CPU).
        (Err(Why::Missing), 2) => match (by_configuration(tree), with_controller(tree, &path)) {
            (RtGroup::InForce, Some(path)) => RtGroup::Group { path, runtime_us: 0 },
            (RtGroup::InForce, None) => RtGroup::Group { path, runtime_us: -1 },
            (other, _) => other,
        },
        (Err(Why::Missing), _) => RtGroup::NotInForce,
        _ => by_configuration(tree),
    }
}

fn by_configuration(tree: &FsRoot) -> RtGroup {
    match kernel::rt_group_sched(tree) {
        Some(true) => RtGroup::InForce,
        Some(false) => RtGroup::NotInForce,
        None => RtGroup::Unknown,
    }
}

/// The directory of the process's group in the hierarchy with the controller `cpu`, and the hierarchy's version.
fn cpu_group(tree: &FsRoot, directory: &str) -> Option<(String, u8)> {
    let groups = tree.text(&format!("{directory}/cgroup"));
    let mounts = tree.text("/proc/self/mounts");
    let mount = |kind: &str, controller: Option<&str>| {
        mounts.known()?.lines().find_map(|line| {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let [_, at, of, options, ..] = words[..] else { return None };
            let has = controller.is_none_or(|name| options.split(',').any(|option| option == name));
            (of == kind && has).then(|| at.to_owned())
        })
    };
    let path_of = |wanted: &dyn Fn(&str) -> bool| {
        groups.known()?.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            wanted(controllers).then(|| path.trim_end_matches('/').to_owned())
        })
    };
    if let Some(mount) = mount("cgroup", Some("cpu")) {
        let path = path_of(&|controllers| controllers.split(',').any(|name| name == "cpu"))?;
        return Some((format!("{mount}{path}"), 1));
    }
    let path = path_of(&str::is_empty)?;
    Some((format!("{}{path}", mount("cgroup2", None)?), 2))
}

/// The nearest group, from this one on upwards, with the controller `cpu`; `None`: only the root has it.
fn with_controller(tree: &FsRoot, group: &str) -> Option<String> {
    let mut path = group;
    loop {
        // The root has no such file (Documentation/admin-guide/cgroup-v2.rst).
        if tree.text(&format!("{path}/cpu.weight")).known().is_some() {
            return Some(path.to_owned());
        }
        path = path.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nCapEff:\t0000000000800000\nSeccomp:\t2\n";
    const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
        Max locked memory         8388608              unlimited            bytes     \n\
        Max nice priority         0                    30                   \n\
        Max realtime priority     40                   95                   \n\
        Max realtime timeout      200000               unlimited            us        \n";
    const V1: &str = "cgroup /cg/cpu cgroup rw,cpu,cpuacct 0 0\ncgroup2 /cg/unified cgroup2 rw 0 0\n";
    const V2: &str = "cgroup2 /cg cgroup2 rw 0 0\n";

    #[test]
    fn rights_are_those_of_the_files_of_the_process() {
        let tree = FsRoot::memory(&[
            ("/proc/7/status", STATUS),
            ("/proc/7/limits", LIMITS),
            ("/proc/7/uid_map", "         0       1000          1\n"),
            ("/proc/7/cgroup", "3:cpuset:/\n2:cpu,cpuacct:/app\n0::/\n"),
            ("/proc/self/mounts", V1),
            ("/cg/cpu/app/cpu.rt_runtime_us", "0\n"),
        ]);
        let rights = SchedulingRights::read(&tree, "7");
        assert_eq!((rights.has_sys_nice(), rights.may_set_any_priority()), (Some(true), Some(false)));
        assert_eq!(rights.has_seccomp_filter, Some(true));
        assert_eq!(rights.rtprio, Some(ProcessLimit { soft: Some(40), hard: Some(95) }));
        let path = "/cg/cpu/app/cpu.rt_runtime_us".to_owned();
        assert_eq!(rights.rt_group, RtGroup::Group { path, runtime_us: 0 });
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        let rights = SchedulingRights::read(&FsRoot::refusing(Why::Denied), "7");
        assert_eq!(rights, SchedulingRights::default());
        assert_eq!(rights.may_set_any_priority(), None);
    }

    #[test]
    fn groups_of_version_2_have_no_runtime_where_they_have_the_controller() {
        let group = |files: &[(&str, &str)], config: &str| {
            let mut all = vec![
                ("/proc/self/mounts", V2),
                ("/proc/self/cgroup", "0::/a.slice/b.service\n"),
                ("/cg/cgroup.procs", ""),
                ("/proc/sys/kernel/osrelease", "6.12.0"),
                ("/proc/cmdline", "quiet\n"),
                ("/boot/config-6.12.0", config),
            ];
            all.extend_from_slice(files);
            SchedulingRights::read(&FsRoot::memory(&all), "self").rt_group
        };
        let on = "CONFIG_RT_GROUP_SCHED=y\n";
        let path = "/cg/a.slice".to_owned();
        assert_eq!(group(&[("/cg/a.slice/cpu.weight", "100\n")], on), RtGroup::Group { path, runtime_us: 0 });
        let path = "/cg/a.slice/b.service".to_owned();
        assert_eq!(group(&[], on), RtGroup::Group { path, runtime_us: -1 });
        assert_eq!(group(&[], "# CONFIG_RT_GROUP_SCHED is not set\nCONFIG_SMP=y\n"), RtGroup::NotInForce);
    }
}
