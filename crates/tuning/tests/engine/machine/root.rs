//! The machine's directory: what is in it, and what differs from an earlier state.

use super::kernel::{GRUB, Kernel, MENU, Played};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tempfile::TempDir;
use whylate_tuning::{FaultInjector, JournalStore, LiveSystem};

/// The machine.
pub(crate) struct Machine {
    /// Removed when it is dropped.
    pub(crate) directory: TempDir,
    pub(crate) kernel: Rc<RefCell<Kernel>>,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let memory = Path::new("/dev/shm");
        let directory = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let machine = Machine { directory: directory.expect("a directory"), kernel: Rc::default() };
        for (path, content, mode) in [
            ("/proc/sys/kernel/random/boot_id", "b0\n", 0o444),
            ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n", 0o644),
            ("/proc/sys/vm/swappiness", "60\n", 0o644),
            ("/proc/irq/default_smp_affinity", "f\n", 0o644),
            ("/sys/kernel/mm/ksm/run", "1\n", 0o644),
            ("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n", 0o644),
            ("/sys/kernel/debug/sched/fair_server/cpu0/period", "1000000000\n", 0o644),
            ("/sys/fs/cgroup/cgroup.subtree_control", "cpu io\n", 0o644),
            (GRUB, "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n# no line break at the end", 0o600),
            (MENU, "linux /vmlinuz quiet\n", 0o444),
            ("/etc/sysctl.d/10-own.conf", "vm.swappiness = 60\n", 0o640),
            ("/etc/real.conf", "behind a link\n", 0o644),
        ] {
            machine.put(path, content, mode);
        }
        fs::create_dir_all(machine.path("/etc/systemd/system")).expect("a directory");
        symlink("/usr/lib/systemd/system/x.service", machine.path("/etc/systemd/system/x.service"))
            .expect("a link");
        symlink("real.conf", machine.path("/etc/linked.conf")).expect("a link");
        let mut kernel = machine.kernel.borrow_mut();
        kernel.threads.insert(41, ("fifo 50".into(), "0-3".into()));
        kernel.threads.insert(42, ("other 0".into(), "0-3".into()));
        kernel.units.insert("irqbalance.service".into(), "active".into());
        drop(kernel);
        machine
    }

    /// Where a path of the machine is.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path.trim_start_matches('/'))
    }

    pub(crate) fn put(&self, path: &str, content: &str, mode: u32) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a directory above")).expect("directories");
        fs::write(&path, content).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The machine as the engine sees it, for as long as no fault interrupts it.
    pub(crate) fn system(&self, faults: &FaultInjector) -> Played {
        let live = LiveSystem::with_faults(self.directory.path(), faults.clone()).expect("a root");
        Played { live, kernel: self.kernel.clone(), faults: faults.clone() }
    }

    pub(crate) fn store(&self, faults: &FaultInjector) -> JournalStore {
        JournalStore::with_faults(self.directory.path(), faults.clone()).expect("a root")
    }

    /// What differs from a state that [`everything`](Machine::everything) gave.
    pub(crate) fn differs_from(&self, before: &(BTreeMap<String, String>, Kernel)) -> Vec<String> {
        let now = self.everything();
        let names: BTreeSet<_> = now.0.keys().chain(before.0.keys()).collect();
        let files = names.into_iter().filter(|name| now.0.get(*name) != before.0.get(*name));
        let files = files.map(|name| format!("{name}: {:?}, now {:?}", before.0.get(name), now.0.get(name)));
        let kernel = (now.1 != before.1).then(|| format!("{:?}, now {:?}", before.1, now.1));
        files.chain(kernel).collect()
    }

    /// All that an undo has to put back. The kernel's files by their values, all others byte for byte; the journals
    /// themselves are not of it.
    pub(crate) fn everything(&self) -> (BTreeMap<String, String>, Kernel) {
        let mut all = BTreeMap::new();
        walk(self.directory.path(), self.directory.path(), &mut all);
        let kernel =
            Kernel { run: vec![], refusing: vec![], bending: vec![], ..self.kernel.borrow().clone() };
        (all, kernel)
    }
}

fn walk(root: &Path, directory: &Path, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = format!("/{}", path.strip_prefix(root).expect("within").display());
        if name == "/var" {
            continue;
        }
        let metadata = fs::symlink_metadata(&path).expect("it is there");
        let kind = match metadata.file_type() {
            kind if kind.is_dir() => {
                walk(root, &path, all);
                "directory".to_owned()
            }
            kind if kind.is_symlink() => format!("link {:?}", fs::read_link(&path).expect("a link")),
            _ => {
                let bytes = fs::read(&path).expect("a file");
                match name.starts_with("/proc/") || name.starts_with("/sys/") {
                    true => whylate_profiles::tunable::normal(&name, &String::from_utf8_lossy(&bytes)),
                    false => format!("{bytes:?}"),
                }
            }
        };
        all.insert(name, format!("{kind} {:o} {}:{}", metadata.mode(), metadata.uid(), metadata.gid()));
    }
}
