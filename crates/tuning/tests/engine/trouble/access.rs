//! The lock on the journals, their directory, which is closed to other users, and links, which lead within the root.

use super::{OWN, SWAPPINESS, no_faults};
use crate::machine::{Machine, applied, content, file, knob, set, value};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::time::Duration;
use whylate_testing::{Need, skip};
use whylate_tuning::{JournalError, SessionOutcome, System, TargetState};

#[test]
fn one_at_a_time() {
    let machine = Machine::new();
    let store = machine.store(&no_faults());
    let lock = store.lock("whylate apply").expect("free");
    let error = machine.store(&no_faults()).lock("whylate rollback").expect_err("taken");
    let JournalError::Locked { holder, .. } = &error else { panic!("{error}") };
    assert_eq!(*holder, format!("whylate apply, process {}", std::process::id()));
    drop(lock);
    store.lock("whylate rollback").expect("free again");
}

#[test]
fn a_lock_that_another_program_has_is_waited_for_within_limits() {
    let machine = Machine::new();
    let store = machine.store(&no_faults());
    let held = store.lock("whylate apply").expect("free");
    let error = store.lock_within("whylate apply --boot", Duration::from_millis(1)).expect_err("taken");
    assert!(matches!(error, JournalError::Locked { .. }), "{error}");
    let released = std::thread::spawn(move || drop(held));
    store.lock_within("whylate apply --boot", Duration::from_secs(3600)).expect("free again");
    released.join().expect("no panic");
}

/// The first program that needs the directories of the journals makes them.
#[test]
fn of_many_at_once_each_has_the_right_or_is_told_who_has() {
    for _ in 0..50 {
        let machine = Machine::new();
        let root = machine.directory.path();
        let take = || {
            let store = whylate_tuning::JournalStore::of(root).expect("a root");
            store.lock("whylate apply").map(drop)
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..6).map(|_| scope.spawn(take)).collect();
            for one in all {
                match one.join().expect("no panic") {
                    Ok(()) | Err(JournalError::Locked { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
}

#[test]
fn another_users_store_is_refused_and_the_own_is_closed_to_others() {
    let machine = Machine::new();
    let store = machine.store(&no_faults());
    let [whylate, tuning] = ["/var/lib/whylate", "/var/lib/whylate/tuning"].map(|path| machine.path(path));
    fs::create_dir_all(&tuning).expect("directories");
    fs::write(tuning.join("lock"), "").expect("a lock");
    let chmod =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    chmod(&tuning.join("lock"), 0o666);
    for open in [&whylate, &tuning] {
        chmod(&whylate, 0o755);
        chmod(&tuning, 0o755);
        chmod(open, 0o777);
        let error = store.lock("whylate apply").expect_err("open to all");
        assert!(matches!(&error, JournalError::Unsafe { path, .. } if path == open), "{error}");
        assert!(
            matches!(store.readable(), Err(JournalError::Unsafe { .. })),
            "what is in it is not believed"
        );
        assert!(error.to_string().contains("mode 0777"), "{error}");
    }
    chmod(&tuning, 0o755);
    chmod(&whylate, 0o755);
    let steps = [value(knob(SWAPPINESS), "5"), set(file(OWN), content("ours\n", 0o640))];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    let mut open = Vec::new();
    let mut left = vec![tuning.clone()];
    while let Some(path) = left.pop() {
        let metadata = path.metadata().expect("there");
        if metadata.mode() & 0o077 != 0 {
            open.push(path.clone());
        }
        if metadata.is_dir() {
            left.extend(
                fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()),
            );
        }
    }
    assert!(open.is_empty(), "{open:?}");
    if !rustix::process::geteuid().is_root() {
        skip(Need::Root, "to give a directory to another user");
        return;
    }
    chown(&tuning, Some(65_534), None).expect("given away");
    let error = store.lock("whylate rollback").expect_err("another user's");
    assert!(error.to_string().contains("belongs to user 65534"), "{error}");
}

#[test]
fn links_of_a_directory_lead_within_it() {
    let machine = Machine::new();
    // Made by a path of this machine, which has no such directory.
    symlink("/etc/sysctl.d", machine.path("/etc/drop-ins")).expect("a link");
    let system = machine.system(&no_faults());
    let path = file("/etc/drop-ins/20-x.conf");
    system.write(&path, &content("x\n", 0o644)).expect("within the root");
    assert_eq!(machine.text("/etc/sysctl.d/20-x.conf"), "x\n");
    // A link is a state of its own: it is not what it leads to that is replaced.
    assert_eq!(system.read(&file("/etc/linked.conf")), Ok(TargetState::Link { target: "real.conf".into() }));
    for bad in ["/", "relative", "/etc/..", ""] {
        assert!(system.read(&file(bad)).is_err(), "{bad}");
    }
}

#[test]
fn journals_do_not_leave_a_directory_by_a_link_to_what_is_not_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let outside = tempfile::tempdir().expect("a directory");
    fs::create_dir(directory.path().join("var")).expect("a directory");
    // It leads to nothing within the root, and to a directory of this machine by its path.
    symlink(outside.path(), directory.path().join("var/lib")).expect("a link");
    let error = whylate_tuning::JournalStore::of(directory.path()).expect_err("it leads out");
    assert!(error.to_string().contains("not there within it"), "{error}");
    assert!(fs::read_dir(outside.path()).expect("a directory").next().is_none());
    // With the directory that the machine would have, it leads there.
    let within = directory.path().join(outside.path().strip_prefix("/").expect("absolute"));
    fs::create_dir_all(&within).expect("a directory");
    let store = whylate_tuning::JournalStore::of(directory.path()).expect("it is there");
    store.lock("whylate apply").expect("its own");
    assert!(within.join("whylate/tuning/lock").is_file());
}
