//! Machines with a disk: `whylate-lab disk`, `tuning`, `state`. Those that boot run only with
//! WHYLATE_TEST_DISK=1: a boot takes half a minute, the disk is made first, and that takes root.

use crate::support::{command, ended};
use serde_json::Value;
use std::fs;
use std::path::Path;
use whylate_testing::Need;

#[test]
fn the_state_of_this_machine_has_all_groups() {
    // Its text is not checked: it contains files of this machine.
    let run = command().arg("state").output().expect("the program starts");
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let state: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    for (group, name) in
        [("files", "/etc"), ("kernel", "/proc/sys/kernel/ostype"), ("kernel", "/proc/cmdline")]
    {
        assert!(state["groups"][group][name].is_string(), "{group} {name}");
    }
    for group in ["threads", "units"] {
        assert!(state["groups"][group].as_object().is_some_and(|values| !values.is_empty()), "{group}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let cache = tempfile::tempdir().expect("a directory");
    for arguments in [
        &["disk", "--kernel", "5.4", "true"][..],
        &["tuning", "--kernel", "5.4", "--whylate", "/bin/true"],
        &["guest"],
    ] {
        let mut lab = command();
        lab.current_dir(cache.path()).env("WHYLATE_LAB_CACHE", cache.path().join("cache"));
        let run = ended(lab.args(arguments).output().expect("the program starts"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.stderr.contains("6.12-rt") || run.stderr.contains("job.json"), "{}", run.stderr);
    }
    assert!(!cache.path().join("cache").exists(), "nothing was made");
}

/// A synced file exists after a power cut, an unsynced one may; a reboot keeps both.
#[test]
fn a_disk_keeps_what_was_written() {
    if std::env::var_os("WHYLATE_TEST_DISK").is_none() {
        whylate_testing::skip(Need::Request, "it boots a machine with a disk; set WHYLATE_TEST_DISK=1");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let mut lab = command();
    lab.current_dir(directory.path()).args([
        "disk",
        "--whylate",
        "/bin/true",
        "--kernel",
        "6.1-rt",
        "--disk",
        "disk.img",
    ]);
    lab.args([
        "echo one > /root/one",
        "cp /proc/cmdline /root/first",
        "sed -i 's/GRUB_CMDLINE_LINUX_DEFAULT=.*/GRUB_CMDLINE_LINUX_DEFAULT=\"quiet isolcpus=3\"/' /etc/default/grub",
        "update-grub",
        "reboot",
        "cat /root/one && ! grep isolcpus /root/first && grep -o isolcpus=3 /proc/cmdline",
        "echo two > /root/two && sync /root/two && echo three > /root/three",
        "power-cut",
        "cat /root/two && mount | grep ' on / ' && nproc",
    ]);
    let run = ended(lab.output().expect("the program starts"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains("boot 2: power cut after exit code 0"), "{}", run.stderr);
    let said = |boot: usize, command: usize| {
        let name = format!("whylate-lab/boot-{boot}/{command}.txt");
        fs::read_to_string(directory.path().join(name)).unwrap_or_default()
    };
    let last = said(3, 0);
    assert!(last.starts_with("two\n") && last.contains("ext4 (rw") && last.ends_with("4\n"), "{last}");
    assert!(Path::new(&directory.path().join("disk.img")).exists(), "the disk that was named stays");
}
