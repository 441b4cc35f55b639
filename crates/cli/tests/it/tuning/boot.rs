//! Applies over a reboot: what ends with it, what is reapplied, and what is undone unless it is confirmed.

use super::root::{Root, json, standings};
use crate::support::run::{command, copy_program, ended};
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn settings_that_end_with_a_reboot_are_reported_before_the_apply() {
    let root = Root::new();
    let run = root.apply(&[]);
    assert!(run.code == Some(0) && run.stderr.contains("end with the next reboot"), "{run:#?}");
    assert!(run.stderr.contains("/proc/irq/default_smp_affinity"), "{run:#?}");
    assert!(!run.stderr.contains("swappiness"), "a file of sysctl.d has it: {run:#?}");
}

#[test]
fn an_unconfirmed_apply_is_rolled_back_at_the_next_boot() {
    let root = Root::new();
    let before = root.everything();
    assert_eq!(root.apply(&["--revert-after", "1h"]).code, Some(0));
    let run = root.run(&["history"]);
    assert!(run.stdout.contains("unless confirmed"), "{run:#?}");
    // The timer of a later time leaves it alone.
    assert_eq!(root.run(&["rollback", "--unconfirmed", "1"]).code, Some(0));
    assert_eq!(standings(&root), ["applied"]);
    fs::remove_file(root.path("/proc/sys/kernel/random/boot_id")).expect("the old one");
    fs::write(root.path("/proc/sys/kernel/random/boot_id"), "b1\n").expect("another boot");
    fs::write(root.path("/proc/sys/vm/swappiness"), "60\n").expect("another boot");
    fs::write(root.path("/proc/sys/vm/stat_interval"), "1\n").expect("another boot");
    fs::write(root.path("/proc/irq/default_smp_affinity"), "0000000f\n").expect("another boot");
    let run = root.run(&["apply", "--boot"]);
    assert!(run.code == Some(0) && run.stderr.contains("not confirmed"), "{run:#?}");
    assert_eq!(standings(&root), ["rolled-back"]);
    let confirm = root.run(&["confirm"]);
    assert!(confirm.code == Some(1) && confirm.stderr.contains("rolled back"), "{confirm:#?}");
    let ids = |all: BTreeMap<String, String>| all.into_iter().filter(|(path, _)| !path.ends_with("boot_id"));
    assert!(ids(root.everything()).eq(ids(before)));
}

/// The program's file is removed before the apply starts, as an upgrade does.
#[test]
fn the_automatic_undo_comes_from_the_running_image() {
    let root = Root::new();
    let before = root.everything();
    let program = root.directory.path().join("program");
    copy_program(env!("CARGO_BIN_EXE_whylate"), &program);
    let script = "exec 3<\"$0\"; rm \"$0\"; exec /proc/self/fd/3 \"$@\"";
    let words = root.arguments(&[&root.apply_words()[..], &["--revert-after", "1s"]].concat());
    let mut shell = Command::new("sh");
    let run = ended(shell.args(["-c", script]).arg(&program).args(words).output().expect("starts"));
    assert!(run.code == Some(0) && !program.exists(), "{run:#?}");
    assert!(run.stderr.contains("if that process is killed"), "{run:#?}");
    for _ in 0..600 {
        if standings(&root) == ["rolled-back"] {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!((standings(&root), root.everything()), (vec!["rolled-back".to_owned()], before));
}

#[test]
fn a_confirmed_apply_is_reapplied_at_the_next_boot() {
    let root = Root::new();
    assert_eq!(root.apply(&["--revert-after", "1h"]).code, Some(0));
    assert_eq!(root.run(&["confirm"]).code, Some(0));
    let run = root.run(&["confirm", "--json"]);
    assert!(run.code == Some(1) && run.stderr.contains("apply 1 was confirmed"), "{run:#?}");
    assert_eq!(json(&run)["applies"], serde_json::json!([]));
    fs::remove_file(root.path("/proc/sys/kernel/random/boot_id")).expect("the old one");
    fs::write(root.path("/proc/sys/kernel/random/boot_id"), "b1\n").expect("another boot");
    fs::write(root.path("/proc/sys/vm/swappiness"), "70\n").expect("another boot");
    fs::write(root.path("/proc/cmdline"), "quiet nohz_full=2-3 skew_tick=1\n").ok();
    assert_eq!(root.run(&["verify"]).code, Some(1), "nothing was set in this boot");
    let run = root.run(&["apply", "--boot"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    let run = root.run(&["apply", "--boot"]);
    assert!(run.code == Some(0) && run.stderr.contains("made in this boot"), "{run:#?}");
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "70\n", "that boot's own");
}

#[test]
fn the_service_at_boot_waits_for_another_whylate() {
    let root = Root::new();
    assert_eq!(root.apply(&[]).code, Some(0));
    let lock = fs::File::open(root.path("/var/lib/whylate/tuning/lock")).expect("a lock");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("free");
    let mut boot = command();
    boot.args(root.arguments(&["apply", "--boot"])).stdout(Stdio::null()).stderr(Stdio::piped());
    let boot = boot.spawn().expect("starts");
    // Whether it has come to the lock by then or not: it ends well only if it waits.
    std::thread::sleep(Duration::from_millis(300));
    drop(lock);
    let run = ended(boot.wait_with_output().expect("ends"));
    assert!(run.code == Some(0) && run.stderr.contains("made in this boot"), "{run:#?}");
}
