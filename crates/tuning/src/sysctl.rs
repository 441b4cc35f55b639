//! Sysctls by name, and what systemd-sysctl sets at boot (sysctl.d(5)): which file has the last word.

use std::collections::BTreeMap;
use whylate_base::glob;
use whylate_host::{FsRoot, Unread};
use whylate_profiles::sysctl::path;

/// Of files with the same name the one in the earlier directory counts.
const DIRECTORIES: [&str; 4] =
    ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"];
/// procps' sysctl(8) reads it last. systemd-sysctl does so only where a link in /etc/sysctl.d leads there, which is
/// then among the others by its own name.
const LAST: &str = "/etc/sysctl.conf";

/// An assignment in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assigned {
    /// The file.
    pub(crate) file: String,
    /// As it is written.
    pub(crate) value: String,
    /// The file in /proc/sys; it may be a pattern.
    path: String,
    /// `-name` alone takes a file out of later patterns.
    spared: bool,
}

/// Every assignment, in the order in which they are made.
#[derive(Debug, Default)]
pub(crate) struct Sysctls {
    assigned: Vec<Assigned>,
    /// Files that could not be read.
    pub(crate) unread: Vec<Unread>,
}

impl Sysctls {
    pub(crate) fn read(tree: &FsRoot) -> Sysctls {
        let mut sysctls = Sysctls::default();
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for dir in DIRECTORIES {
            let names = tree.list(dir);
            match names.if_present() {
                Ok(names) => {
                    for name in names.into_iter().flatten().filter(|name| name.ends_with(".conf")) {
                        files.entry(name.clone()).or_insert_with(|| format!("{dir}/{name}"));
                    }
                }
                // A captured root need not have directories that are empty.
                Err(unread) if unread.why == whylate_host::Why::NotCollected => {}
                Err(unread) => sysctls.unread.push(unread),
            }
        }
        for path in files.values().map(String::as_str).chain([LAST]) {
            let text = tree.text(path);
            match text.if_present() {
                Ok(text) => sysctls.add(path, text.map_or("", String::as_str)),
                Err(unread) if unread.why == whylate_host::Why::NotCollected => {}
                Err(unread) => sysctls.unread.push(unread),
            }
        }
        sysctls
    }

    fn add(&mut self, file: &str, text: &str) {
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
            let (key, value, spared) = match (line.split_once('='), line.strip_prefix('-')) {
                (Some((key, value)), _) => (key.trim().trim_start_matches('-'), value.trim(), false),
                (None, Some(key)) => (key.trim(), "", true),
                (None, None) => continue,
            };
            let path = format!("/proc/sys/{}", path(key));
            self.assigned.push(Assigned { file: file.to_owned(), value: value.to_owned(), path, spared });
        }
    }

    /// The files that give a file in /proc/sys a value, by its name or by a pattern, each once.
    pub(crate) fn files_with(&self, path: &str, value: &str) -> Vec<&str> {
        let same = |own: &str| own.split_whitespace().eq(value.split_whitespace());
        let of = |own: &&Assigned| !own.spared && glob(&own.path, path) && same(&own.value);
        let mut files: Vec<&str> = self.assigned.iter().filter(of).map(|own| own.file.as_str()).collect();
        files.dedup();
        files
    }

    /// The last assignment of a file in /proc/sys. One that names it counts more than a pattern.
    pub(crate) fn last(&self, path: &str) -> Option<&Assigned> {
        let named = self.assigned.iter().rev().find(|assigned| assigned.path == path);
        match named {
            Some(named) => Some(named).filter(|named| !named.spared),
            None => {
                self.assigned.iter().rev().find(|assigned| !assigned.spared && glob(&assigned.path, path))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word() {
        let sysctls = Sysctls::read(&FsRoot::memory(&[
            (
                "/etc/sysctl.d/50-a.conf",
                "kernel.timer_migration = 1\n# vm.swappiness=9\n-vm.stat_interval=7\n",
            ),
            ("/usr/lib/sysctl.d/50-a.conf", "kernel.timer_migration = 5\nvm.swappiness = 5\n"),
            ("/usr/lib/sysctl.d/60-b.conf", "vm.swappiness=60\nnet/ipv4/conf/eth0.1/rp_filter = 0\n"),
            (
                "/run/sysctl.d/55-c.conf",
                "kernel/timer_migration=2\nnet.ipv4.conf.*.rp_filter = 2\n-net.ipv4.conf.lo.rp_filter\n",
            ),
            ("/etc/sysctl.d/README", "vm.swappiness=1\n"),
            ("/etc/sysctl.conf", "kernel.sched_rt_runtime_us = -1\n"),
        ]));
        let last = |path: &str| {
            sysctls.last(&format!("/proc/sys/{path}")).map(|own| format!("{} in {}", own.value, own.file))
        };
        for (path, expected) in [
            ("kernel/timer_migration", Some("2 in /run/sysctl.d/55-c.conf")),
            ("vm/swappiness", Some("60 in /usr/lib/sysctl.d/60-b.conf")),
            ("vm/stat_interval", Some("7 in /etc/sysctl.d/50-a.conf")),
            ("kernel/sched_rt_runtime_us", Some("-1 in /etc/sysctl.conf")),
            ("net/ipv4/conf/all/rp_filter", Some("2 in /run/sysctl.d/55-c.conf")),
            ("net/ipv4/conf/eth0.1/rp_filter", Some("0 in /usr/lib/sysctl.d/60-b.conf")),
            ("net/ipv4/conf/lo/rp_filter", None),
            ("vm/laptop_mode", None),
        ] {
            assert_eq!(last(path).as_deref(), expected, "{path}");
        }
        assert!(sysctls.unread.is_empty(), "{:?}", sysctls.unread);
    }

    #[test]
    fn what_could_not_be_read_is_kept() {
        let tree = FsRoot::refusing(whylate_host::Why::Denied);
        assert_eq!(Sysctls::read(&tree).unread.len(), 5);
    }

    #[test]
    fn who_gives_it_its_value() {
        let sysctls = Sysctls::read(&FsRoot::memory(&[
            ("/etc/sysctl.d/50-a.conf", "vm.swappiness = 60\n# vm.stat_interval = 60\n"),
            ("/etc/sysctl.d/60-b.conf", "-vm/swappiness=60\nvm.swappiness=60\n"),
            ("/etc/sysctl.d/70-c.conf", "vm.swappiness=10\nnet/ipv4/tcp_rmem = 1\t2  3\n"),
            ("/etc/sysctl.d/80-d.conf", "net.ipv4.conf.*.rp_filter = 2\n"),
        ]));
        for (path, value, files) in [
            ("vm/swappiness", "60", vec!["/etc/sysctl.d/50-a.conf", "/etc/sysctl.d/60-b.conf"]),
            ("vm/swappiness", "5", vec![]),
            ("vm/stat_interval", "60", vec![]),
            ("net/ipv4/tcp_rmem", "1 2 3", vec!["/etc/sysctl.d/70-c.conf"]),
            ("net/ipv4/conf/eth0.1/rp_filter", "2", vec!["/etc/sysctl.d/80-d.conf"]),
        ] {
            assert_eq!(sysctls.files_with(&format!("/proc/sys/{path}"), value), files, "{path}");
        }
    }
}
