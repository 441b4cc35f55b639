//! Control groups whose CPUs the scheduler balances on their own (Documentation/admin-guide/cgroup-v2.rst, cpuset).

use super::expansion::{Expanded, Found};
use crate::Setting;
use whylate_base::CpuSet;
use whylate_host::{FsRoot, Unread, Why};

const ROOT: &str = "/sys/fs/cgroup";

pub(super) fn expand(group: &str, value: Option<&str>, tree: &FsRoot) -> Expanded {
    let setting = Setting::Partition { group: group.to_owned() };
    let name = group.trim_matches('/');
    if name.is_empty() || name.split('/').any(|part| part == ".." || part == ".") {
        return Expanded::left(setting, "it is no group below /sys/fs/cgroup");
    }
    let then = match value.map(parse) {
        Some(None) => return Expanded::left(setting, "write it like `isolated 2-3` or `root 2-3`"),
        Some(Some(then)) => Some(then),
        None => None,
    };
    let controllers = tree.text(&format!("{ROOT}/cgroup.controllers"));
    match controllers.need() {
        Ok(names) if names.split_ascii_whitespace().any(|name| name == "cpuset") => {}
        Ok(_) => {
            let why =
                "the cgroup v2 hierarchy has no cpuset controller: it is disabled, or a v1 hierarchy has it";
            return Expanded::left(setting, why);
        }
        Err(Unread { why: Why::Missing, .. }) => {
            return Expanded::left(setting, "the machine has cgroup v1, which has no partitions");
        }
        Err(unread) => return left(setting, &unread),
    }
    match now(name, tree) {
        Ok(now) => Expanded::found(vec![Found::new(setting, now, then)]),
        Err(unread) => left(setting, &unread),
    }
}

fn left(setting: Setting, unread: &Unread) -> Expanded {
    let mut left = Expanded::default();
    left.unread(setting, unread);
    left
}

/// `isolated 2-3`, `member 0-3`, `isolated invalid (reason) 2-3`; `None`: there is no such group.
fn now(name: &str, tree: &FsRoot) -> Result<Option<String>, Unread> {
    let at = |file: &str| format!("{ROOT}/{name}/{file}");
    let kind = tree.value::<String>(&at("cpuset.cpus.partition"));
    let Some(kind) = kind.if_present()? else { return Ok(None) };
    let cpus = tree.value::<CpuSet>(&at("cpuset.cpus"));
    let cpus = cpus.need()?;
    Ok(Some(format!("{kind} {cpus}").trim_end().to_owned()))
}

fn parse(value: &str) -> Option<String> {
    let (kind, cpus) = value.split_once(' ')?;
    let cpus: CpuSet = cpus.parse().ok()?;
    (matches!(kind, "isolated" | "root") && !cpus.is_empty()).then(|| format!("{kind} {cpus}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions() {
        let files = [
            ("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
            ("/sys/fs/cgroup/rt/cpuset.cpus.partition", "isolated\n"),
            ("/sys/fs/cgroup/rt/cpuset.cpus", "2,3\n"),
            (
                "/sys/fs/cgroup/bad/cpuset.cpus.partition",
                "isolated invalid (Parent is not a partition root)\n",
            ),
            ("/sys/fs/cgroup/bad/cpuset.cpus", "2-3\n"),
        ];
        let planned = |files: &[(&str, &str)], group: &str, value: Option<&str>| {
            let expanded = expand(group, value, &FsRoot::memory(files));
            let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            let found =
                expanded.found.iter().map(|found| format!("{} -> {}", text(&found.now), text(&found.then)));
            found.chain(expanded.left.iter().map(|left| left.why.clone())).collect::<String>()
        };
        for (group, value, expected) in [
            ("rt", Some("isolated 2-3"), "isolated 2-3 -> isolated 2-3"),
            ("/rt/", Some("root 1,2"), "isolated 2-3 -> root 1-2"),
            ("new", Some("isolated 2-3"), "- -> isolated 2-3"),
            ("rt", None, "isolated 2-3 -> -"),
            (
                "bad",
                Some("isolated 2-3"),
                "isolated invalid (Parent is not a partition root) 2-3 -> isolated 2-3",
            ),
            ("rt", Some("isolated"), "write it like `isolated 2-3` or `root 2-3`"),
            ("../x", Some("isolated 2-3"), "it is no group below /sys/fs/cgroup"),
        ] {
            assert_eq!(planned(&files, group, value), expected, "{group}");
        }
        assert!(planned(&[("/sys/fs/cgroup/cpuset/tasks", "")], "rt", Some("root 1")).contains("cgroup v1"));
        assert!(
            planned(&[("/sys/fs/cgroup/cgroup.controllers", "cpu\n")], "rt", Some("root 1"))
                .contains("no cpuset")
        );
        assert!(planned(&[("/proc/version", "x")], "rt", Some("root 1")).contains("mounted"));
    }
}
