//! Who may have changed a cell: by a file's time stamp, by the services that set such things and run here, and by the
//! files that set it at boot.

use crate::{Cell, State, System};
use whylate_host::Tree;

/// Services that set knobs, by the name of their process; and the beginnings of the paths that they set.
const SERVICES: [(&str, &str, &[&str]); 5] = [
    ("tuned", "TuneD", &["/proc/", "/sys/"]),
    ("irqbalance", "irqbalance", &["/proc/irq/"]),
    ("power-profiles-", "power-profiles-daemon", &["/sys/devices/system/cpu/", "/sys/firmware/acpi/"]),
    ("thermald", "thermald", &["/sys/devices/system/cpu/", "/sys/class/thermal/"]),
    ("tlp", "TLP", &["/sys/"]),
];

/// Where sysctl.d(5) has its settings.
const SYSCTL: [&str; 4] = ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"];

/// Who, in words; best founded first.
pub(super) fn of(cell: &Cell, now: &State, system: &dyn System, tree: &Tree) -> Vec<String> {
    let mut who = Vec::new();
    match cell {
        Cell::File { .. } | Cell::Directory { .. } => who.extend(system.changed(cell).map(super::when)),
        Cell::Knob { path } => {
            if let (Some(key), State::Value(value)) = (path.strip_prefix("/proc/sys/"), now) {
                who.extend(sysctls(tree, key, value));
            }
            who.extend(running(tree, |paths| paths.iter().any(|begin| path.starts_with(begin))));
        }
        // TuneD's scheduler plugin sets threads by pattern, again and again.
        Cell::ThreadPolicy { .. } | Cell::ThreadCpus { .. } => {
            who.extend(running(tree, |paths| paths.contains(&"/proc/")));
        }
        Cell::UnitActive { .. } | Cell::Group { .. } => {}
    }
    who
}

/// The files of sysctl.d(5) that set a key to what it is.
fn sysctls(tree: &Tree, key: &str, now: &str) -> Vec<String> {
    let mut files = vec!["/etc/sysctl.conf".to_owned()];
    for directory in SYSCTL {
        let names = tree.list(directory);
        let names = names.known().into_iter().flatten().filter(|name| name.ends_with(".conf"));
        files.extend(names.map(|name| format!("{directory}/{name}")));
    }
    let sets = |file: &String| {
        tree.text(file).known().is_some_and(|text| text.lines().any(|line| sets(line, key, now)))
    };
    files.into_iter().filter(sets).map(|file| format!("{file} sets it so")).collect()
}

/// Whether a line of sysctl.d(5) gives a key this value. Where the first separator is a slash, dots are part of names.
fn sets(line: &str, key: &str, value: &str) -> bool {
    let Some((own, given)) = line.trim_start_matches(['-', ' ', '\t']).split_once('=') else { return false };
    let own = own.trim();
    let first = own.find(['.', '/']).and_then(|at| own.as_bytes().get(at));
    let own = match first {
        Some(b'.') => own
            .chars()
            .map(|c| {
                if c == '.' {
                    '/'
                } else if c == '/' {
                    '.'
                } else {
                    c
                }
            })
            .collect::<String>(),
        _ => own.to_owned(),
    };
    own == key && given.split_whitespace().eq(value.split_whitespace())
}

/// The services that run and set such paths.
fn running(tree: &Tree, concerns: impl Fn(&[&str]) -> bool) -> Vec<String> {
    let wanted: Vec<_> = SERVICES.iter().filter(|(_, _, paths)| concerns(paths)).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let pids = tree.list("/proc");
    let pids =
        pids.known().into_iter().flatten().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let mut found = Vec::new();
    for pid in pids {
        let comm = tree.text(&format!("/proc/{pid}/comm"));
        let comm = comm.known().map_or("", |text| text.trim());
        if let Some((_, name, _)) = wanted.iter().find(|(process, _, _)| *process == comm) {
            found.push(format!("{name} runs (process {pid}), and sets such things"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_sysctl_files() {
        for (line, is) in [
            ("vm.swappiness = 60", true),
            ("-vm/swappiness=60", true),
            ("vm.swappiness=10", false),
            ("# vm.swappiness = 60", false),
            ("vm.swappiness", false),
        ] {
            assert_eq!(sets(line, "vm/swappiness", "60"), is, "{line}");
        }
        assert!(sets("net.ipv4.conf.eth0/1.forwarding=1", "net/ipv4/conf/eth0.1/forwarding", "1"));
    }

    #[test]
    fn who_may_have_changed_a_knob() {
        let tree = Tree::memory(&[
            ("/proc/7/comm", "irqbalance\n"),
            ("/proc/8/comm", "tuned\n"),
            ("/proc/sys/vm/swappiness", "60\n"),
            ("/etc/sysctl.d/99-local.conf", "vm.swappiness=60\n"),
        ]);
        let who = |path: &str| {
            let mut who = sysctls(&tree, path.trim_start_matches("/proc/sys/"), "60");
            who.extend(running(&tree, |paths| paths.iter().any(|begin| path.starts_with(begin))));
            who
        };
        let found = who("/proc/sys/vm/swappiness");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("99-local.conf") && found[1].contains("TuneD"), "{found:?}");
        assert!(who("/proc/irq/4/smp_affinity_list").iter().any(|who| who.contains("irqbalance")));
    }
}
