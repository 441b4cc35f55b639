//! What may have changed a target: by a file's time stamp, by the services that set such things and run here, and by the
//! files that set it at boot.

use crate::processes::processes;
use crate::sysctl::Sysctls;
use crate::{System, Target, TargetState, Timestamp};
use whylate_host::FsRoot;

/// Services that set tunables, by the name of their process; and the beginnings of the paths that they set.
const SERVICES: [(&str, &str, &[&str]); 5] = [
    ("tuned", "TuneD", &["/proc/", "/sys/"]),
    ("irqbalance", "irqbalance", &["/proc/irq/"]),
    ("power-profiles-", "power-profiles-daemon", &["/sys/devices/system/cpu/", "/sys/firmware/acpi/"]),
    ("thermald", "thermald", &["/sys/devices/system/cpu/", "/sys/class/thermal/"]),
    ("tlp", "TLP", &["/sys/"]),
];

/// The suspects in words, the most likely first.
pub(super) fn of(target: &Target, now: &TargetState, system: &dyn System, tree: &FsRoot) -> Vec<String> {
    let mut who = Vec::new();
    match target {
        Target::File { .. } | Target::Directory { .. } => who.extend(system.changed(target).map(when)),
        Target::Tunable { path } => {
            if let (true, TargetState::Value(value)) = (path.starts_with("/proc/sys/"), now) {
                who.extend(sysctls(tree, path, value));
            }
            who.extend(running(tree, |paths| paths.iter().any(|begin| path.starts_with(begin))));
        }
        // TuneD's scheduler plugin sets threads by pattern, again and again.
        Target::ThreadPolicy { .. } | Target::ThreadCpus { .. } => {
            who.extend(running(tree, |paths| paths.contains(&"/proc/")));
        }
        Target::UnitActive { .. } | Target::Group { .. } => {}
    }
    who
}

/// When a target was changed, in words.
fn when(moment: Timestamp) -> String {
    format!("changed at {moment}")
}

/// The files of sysctl.d(5) that set it to what it is.
fn sysctls(tree: &FsRoot, path: &str, now: &str) -> Vec<String> {
    let sysctls = Sysctls::read(tree);
    let files = sysctls.files_with(path, now);
    files.into_iter().map(|file| format!("{file} sets it so")).collect()
}

/// The services that run and set such paths.
fn running(tree: &FsRoot, concerns: impl Fn(&[&str]) -> bool) -> Vec<String> {
    let wanted: Vec<_> = SERVICES.iter().filter(|(_, _, paths)| concerns(paths)).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let meant = |comm: &str| wanted.iter().find(|(process, _, _)| *process == comm);
    processes(tree)
        .filter_map(|(pid, comm)| {
            let (_, name, _) = meant(&comm)?;
            Some(format!("{name} runs (process {pid}) and sets such files and threads"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_have_changed_a_knob() {
        let tree = FsRoot::memory(&[
            ("/proc/7/comm", "irqbalance\n"),
            ("/proc/8/comm", "tuned\n"),
            ("/proc/sys/vm/swappiness", "60\n"),
            ("/etc/sysctl.d/99-local.conf", "vm.swappiness=60\n"),
        ]);
        let who = |path: &str| {
            let mut who = sysctls(&tree, path, "60");
            who.extend(running(&tree, |paths| paths.iter().any(|begin| path.starts_with(begin))));
            who
        };
        let found = who("/proc/sys/vm/swappiness");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("99-local.conf") && found[1].contains("TuneD"), "{found:?}");
        assert!(who("/proc/irq/4/smp_affinity_list").iter().any(|who| who.contains("irqbalance")));
    }
}
