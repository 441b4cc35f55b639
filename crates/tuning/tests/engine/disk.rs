//! Disks that are full or read-only: small file systems of their own, which only root can mount.

use crate::machine::{Machine, applied, content, every_kind, file, knob, rolled_back, set, value};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, mount_remount, unmount,
};
use std::fs;
use std::path::{Path, PathBuf};
use whylate_tuning::{FaultInjector, SessionOutcome, StepProgress};

/// A file system in memory; unmounted when it is dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// `None`, reported as a skip, where this user may not mount.
    fn new(path: PathBuf, options: &str) -> Option<Mounted> {
        fs::create_dir_all(&path).expect("a directory");
        let options = std::ffi::CString::new(options).expect("no zero byte");
        match mount("tmpfs", &path, "tmpfs", MountFlags::empty(), options.as_c_str()) {
            Ok(()) => {
                mount_change(&path, MountPropagationFlags::PRIVATE).expect("it is ours");
                Some(Mounted(path))
            }
            Err(error) => {
                whylate_testing::skip(
                    whylate_testing::Need::Root,
                    format_args!("mounting a file system: {error}"),
                );
                None
            }
        }
    }

    fn read_only(&self) {
        mount_remount(&self.0, MountFlags::RDONLY, c"").expect("it is ours");
    }

    /// Takes all but so many bytes.
    fn fill(&self, but: usize) {
        let free = rustix::fs::statvfs(&self.0).expect("it is mounted");
        let bytes = usize::try_from(free.f_bavail * free.f_frsize).expect("it is small");
        fs::write(self.0.join("filler"), vec![0; bytes.saturating_sub(but)]).expect("less than there was");
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

fn refused(machine: &Machine) -> String {
    applied(machine, &FaultInjector::default(), &every_kind())
        .expect_err("nothing can be written")
        .to_string()
}

#[test]
fn on_a_full_disk_nothing_is_done() {
    for room in [0, 4096, 8192, 16384, 32768] {
        let machine = Machine::new();
        let before = machine.everything();
        let Some(var) = Mounted::new(machine.path("/var"), "size=1m") else { return };
        var.fill(room);
        let why = refused(&machine);
        assert!(why.contains("free some space"), "{room}: {why}");
        assert_eq!(machine.differs_from(&before), Vec::<String>::new(), "{room}");
    }
}

#[test]
fn a_disk_that_fills_up_in_the_middle_leaves_nothing_that_is_not_undone() {
    for room in (49152..160 << 10).step_by(8192) {
        let machine = Machine::new();
        let before = machine.everything();
        let Some(var) = Mounted::new(machine.path("/var"), "size=1m") else { return };
        var.fill(room);
        let outcome = applied(&machine, &FaultInjector::default(), &every_kind());
        if machine.store(&FaultInjector::default()).load(1).is_ok() {
            let undone =
                rolled_back(&machine, &FaultInjector::default(), false).expect("its journal can be read");
            assert_eq!(undone.outcome, SessionOutcome::Complete, "{room}: {outcome:?} {undone:?}");
        }
        assert_eq!(machine.differs_from(&before), Vec::<String>::new(), "{room}");
    }
}

#[test]
fn a_read_only_disk_is_told_before_anything_is_done() {
    let machine = Machine::new();
    let before = machine.everything();
    let Some(var) = Mounted::new(machine.path("/var"), "size=1m") else { return };
    var.read_only();
    let why = refused(&machine);
    assert!(why.contains("mount it writable") && why.contains("/var/lib"), "{why}");
    assert_eq!(machine.differs_from(&before), Vec::<String>::new());
}

#[test]
fn a_disk_that_became_read_only_does_not_keep_a_rollback_from_working() {
    let machine = Machine::new();
    let before = machine.everything();
    let Some(var) = Mounted::new(machine.path("/var"), "size=1m") else { return };
    assert_eq!(
        applied(&machine, &FaultInjector::default(), &every_kind()).expect("room"),
        SessionOutcome::Complete
    );
    var.read_only();
    let undone = rolled_back(&machine, &FaultInjector::default(), false).expect("the lock is there");
    assert_eq!(undone.outcome, SessionOutcome::Complete, "{undone:?}");
    let why = undone.unrecorded.map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("Read-only file system") && why.contains("journal.jsonl"), "{why}");
    assert_eq!(machine.differs_from(&before), Vec::<String>::new());
}

#[test]
fn a_read_only_directory_stops_it_and_what_was_done_is_undone() {
    let machine = Machine::new();
    let Some(etc) = Mounted::new(machine.path("/etc/ro.d"), "size=64k") else { return };
    etc.read_only();
    let before = machine.everything();
    let path = file("/etc/ro.d/x.conf");
    let steps = [value(knob("/proc/sys/vm/swappiness"), "5"), set(path, content("x\n", 0o644))];
    assert_eq!(applied(&machine, &FaultInjector::default(), &steps).expect("room"), SessionOutcome::Failed);
    let entry = machine.store(&FaultInjector::default()).load(1).expect("readable");
    let step = &entry.sessions[0].steps[1];
    let (StepProgress::Failed, Some(why)) = (step.progress, &step.why) else { panic!("{entry:?}") };
    assert!(why.contains("EROFS") && why.contains("mount it writable"), "{why}");
    assert_eq!(
        rolled_back(&machine, &FaultInjector::default(), false).expect("room").outcome,
        SessionOutcome::Complete
    );
    assert_eq!(machine.differs_from(&before), Vec::<String>::new());
    assert!(!Path::new(&machine.path("/etc/ro.d/.x.conf.whylate-part")).exists());
}
