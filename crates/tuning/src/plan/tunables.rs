//! Files of the kernel: which ones a pattern names, and what they hold.

use super::expansion::{Expanded, Found};
use crate::Setting;
use whylate_base::glob;
use whylate_base::natural;
use whylate_host::{FsRoot, Unread, Why};
use whylate_profiles::tunable;

const NO_SUCH_FILE: &str = "this kernel has no such file";

/// More files are none that a profile means.
const MOST: usize = 16_384;

pub(super) fn expand(pattern: &str, value: Option<&str>, tree: &FsRoot) -> Expanded {
    let Some(value) = value else { return Expanded::default() };
    if let Some(why) = not_ours(pattern) {
        return Expanded::left(pattern, why);
    }
    if tunable::is_features(pattern) || tunable::feature(pattern).is_some() {
        return feature(pattern, value.trim(), tree);
    }
    let mut expanded = Expanded::default();
    let paths = match paths(pattern, tree) {
        Ok(paths) => paths,
        Err(unread) => {
            expanded.unread(pattern, &unread);
            return expanded;
        }
    };
    for path in &paths {
        let text = tree.text(path);
        match text.need() {
            Ok(text) => {
                let now = tunable::normal(path, text);
                let then = tunable::asked(path, &now, value);
                expanded.found.push(Found::new(tunable(path), Some(now), Some(then)));
            }
            // Of many: a CPU that is offline has not all of its files.
            Err(Unread { why: Why::Missing, .. }) => {}
            Err(unread) => expanded.unread(path, &unread),
        }
    }
    if expanded.found.is_empty() && expanded.left.is_empty() {
        expanded.leave(pattern, NO_SUCH_FILE);
    }
    expanded
}

/// Reads the files of a pattern, for a tree that records what is read.
pub(super) fn read(pattern: &str, tree: &FsRoot) {
    let pattern = tunable::feature(pattern).map_or(pattern, |(file, _)| file);
    for path in paths(pattern, tree).unwrap_or_default() {
        tree.text(&path);
    }
}

fn tunable(path: &str) -> Setting {
    Setting::Tunable { path: path.to_owned() }
}

/// Why a path is no tunable. What a profile may write is the kernel's, and nothing else.
fn not_ours(path: &str) -> Option<&'static str> {
    let kernel = path.starts_with("/proc/") || path.starts_with("/sys/");
    let plain = !path.split('/').any(|part| part == ".." || part == ".") && !path.contains('\0');
    if tunable::is_of_process(path) {
        return Some("a file of a process: no setting of the machine");
    }
    (!kernel || !plain).then_some("not a kernel file: tunables are in /proc and /sys")
}

/// The files of a pattern, in natural order. One without a `*` is itself.
fn paths(pattern: &str, tree: &FsRoot) -> Result<Vec<String>, Unread> {
    let mut paths = vec![String::new()];
    let mut unread = None;
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains('*') {
            paths.iter_mut().for_each(|path| *path = format!("{path}/{part}"));
            continue;
        }
        let mut next = Vec::new();
        for path in &paths {
            match tree.list(path).if_present() {
                Ok(names) => {
                    let names = names.into_iter().flatten().filter(|name| glob(part, name));
                    next.extend(names.map(|name| format!("{path}/{name}")));
                }
                Err(error) => unread = Some(error),
            }
        }
        next.truncate(MOST);
        paths = next;
    }
    match unread {
        Some(unread) if paths.is_empty() => Err(unread),
        _ => {
            paths.sort_by(|a, b| natural(a, b));
            Ok(paths)
        }
    }
}

/// One feature of the scheduler, named by the path, or by the value where the path is that of them all.
fn feature(path: &str, value: &str, tree: &FsRoot) -> Expanded {
    let own = tunable::feature_name(value);
    let path = if tunable::is_features(path) { format!("{path}/{own}") } else { path.to_owned() };
    let Some((file, name)) = tunable::feature(&path) else { return Expanded::default() };
    if name != own {
        return Expanded::left(&path, format!("write it like {name}, or NO_{name}"));
    }
    match tree.text(file).need() {
        Ok(text) => match tunable::state_of_feature(text, name) {
            Some(now) => {
                let (now, then) = (Some(now.to_owned()), Some(value.to_owned()));
                Expanded::found(vec![Found::new(tunable(&path), now, then)])
            }
            None => Expanded::left(&path, "this scheduler has no such feature"),
        },
        Err(Unread { why: Why::Missing, .. }) => Expanded::left(&path, NO_SUCH_FILE),
        Err(unread) => {
            let mut left = Expanded::default();
            left.unread(&path, &unread);
            left
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUS: &[(&str, &str)] = &[
        ("/sys/devices/system/cpu/cpu10/cpufreq/scaling_governor", "powersave\n"),
        ("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n"),
        ("/sys/devices/system/cpu/cpu3/online", "0\n"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("/sys/kernel/debug/sched/features", "RT_PUSH_IPI NO_RT_RUNTIME_SHARE\n"),
        ("/proc/sys/kernel/timer_migration", "1\n"),
        ("/etc/passwd", "x\n"),
    ];

    fn planned(pattern: &str, value: &str, tree: &FsRoot) -> String {
        let expanded = expand(pattern, Some(value), tree);
        let found = expanded.found.iter().map(|found| {
            let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            format!("{}: {} -> {}", found.setting, text(&found.now), text(&found.then))
        });
        let left = expanded.left.iter().map(|left| format!("{} left: {}", left.what, left.why));
        found.chain(left).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn files_and_values() {
        let tree = FsRoot::memory(CPUS);
        for (pattern, value, expected) in [
            ("/proc/sys/kernel/timer_migration", "0", "kernel.timer_migration: 1 -> 0"),
            (
                "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
                "performance",
                "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor: performance -> performance; \
                 /sys/devices/system/cpu/cpu10/cpufreq/scaling_governor: powersave -> performance",
            ),
            (
                "/sys/kernel/mm/transparent_hugepage/enabled",
                "never",
                "/sys/kernel/mm/transparent_hugepage/enabled: madvise -> never",
            ),
            (
                "/sys/kernel/debug/sched/features",
                "NO_RT_PUSH_IPI",
                "/sys/kernel/debug/sched/features/RT_PUSH_IPI: RT_PUSH_IPI -> NO_RT_PUSH_IPI",
            ),
            (
                "/sys/kernel/debug/sched/features/RT_RUNTIME_SHARE",
                "NO_RT_RUNTIME_SHARE",
                "/sys/kernel/debug/sched/features/RT_RUNTIME_SHARE: NO_RT_RUNTIME_SHARE -> NO_RT_RUNTIME_SHARE",
            ),
            (
                "/sys/kernel/debug/sched/features",
                "NO_X",
                "/sys/kernel/debug/sched/features/X left: this scheduler has no such feature",
            ),
            (
                "/sys/kernel/debug/sched/features/RT_PUSH_IPI",
                "0",
                "/sys/kernel/debug/sched/features/RT_PUSH_IPI left: write it like RT_PUSH_IPI, or NO_RT_PUSH_IPI",
            ),
            (
                "/sys/kernel/debug/sched_features/RT_PUSH_IPI",
                "RT_PUSH_IPI",
                "/sys/kernel/debug/sched_features/RT_PUSH_IPI left: this kernel has no such file",
            ),
            ("/proc/sys/kernel/nothing", "0", "/proc/sys/kernel/nothing left: this kernel has no such file"),
            ("/sys/devices/no*/x", "0", "/sys/devices/no*/x left: this kernel has no such file"),
            ("/etc/passwd", "0", "/etc/passwd left: not a kernel file: tunables are in /proc and /sys"),
            (
                "/proc/../etc/passwd",
                "0",
                "/proc/../etc/passwd left: not a kernel file: tunables are in /proc and /sys",
            ),
        ] {
            assert_eq!(planned(pattern, value, &tree), expected, "{pattern}");
        }
    }

    #[test]
    fn what_is_refused_is_no_absence() {
        let path = "/proc/sys/kernel/timer_migration";
        let refused = FsRoot::memory(CPUS).refused(path, Why::Denied);
        assert_eq!(planned(path, "0", &refused), format!("{path} left: permission denied: run as root"));
        let nothing = FsRoot::refusing(Why::NotCollected);
        let left = planned("/sys/devices/system/cpu/cpu*/online", "1", &nothing);
        assert!(left.contains("left: /sys/devices/system/cpu: it was not collected"), "{left}");
    }
}
