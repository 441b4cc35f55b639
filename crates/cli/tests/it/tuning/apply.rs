//! Applies and their undo: reports, predicted refusals, what cannot be changed.

use super::root::{CMDLINE, Root, json, standings};
use crate::support::run::whylate;
use serde_json::Value;
use std::fs;

#[test]
fn applied_verified_changed_rolled_back() {
    let root = Root::new();
    let before = root.everything();
    let run = root.apply(&["--json"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let document = json(&run);
    assert_eq!(
        (&document["schema"], &document["applies"][0]["standing"]),
        (&"whylate.apply/1".into(), &"applied".into())
    );
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    assert_eq!(root.text("/proc/irq/default_smp_affinity"), "00000003\n");
    let cmdline = root.text(CMDLINE);
    assert!(cmdline.starts_with("console=serial0,115200 root=/dev/mmcblk0p2 quiet"), "{cmdline}");
    assert!(cmdline.contains("nohz_full=2-3") && cmdline.contains("skew_tick=1"), "{cmdline}");

    let run = root.run(&["verify", "--json"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let pending = json(&run)["pending"].as_array().expect("a list").len();
    assert_eq!(pending, 2, "they count from the next boot on");
    let again = root.apply(&[]);
    assert!(again.code == Some(0) && again.stderr.contains("nothing to change"), "{again:#?}");

    fs::write(root.path("/proc/sys/vm/swappiness"), "33\n").expect("another program");
    let run = root.run(&["verify"]);
    assert!(run.code == Some(1) && run.stdout.contains("drift: /proc/sys/vm/swappiness"), "{run:#?}");
    let run = root.run(&["rollback"]);
    assert!(run.code == Some(1) && run.stdout.contains("is 33"), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "33\n");
    let run = root.run(&["rollback", "--force"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(root.everything(), before);
    assert_eq!(standings(&root), ["rolled-back"]);
    let run = root.run(&["rollback"]);
    assert!(run.code == Some(0) && run.stderr.contains("nothing to roll back"), "{run:#?}");
}

#[test]
fn reports_follow_format_and_output_or_are_refused_first() {
    let root = Root::new();
    let before = root.everything();
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    for verb in ["confirm", "verify", "history", "rollback"] {
        let run = root.run(&[verb, "--format", "html"]);
        assert!(run.code == Some(2) && run.stderr.contains("[possible values: text, json]"), "{run:#?}");
    }
    for name in ["a.html", "without"] {
        let run = root.apply(&["-o", &file(name)]);
        assert!(run.code == Some(2) && run.stderr.contains("use one of .txt, .json"), "{run:#?}");
    }
    assert_eq!(root.everything(), before);

    let saved = |path: &str| fs::read_to_string(path).expect("the report");
    let run = root.apply(&["--format", "json", "-o", &file("apply.txt")]);
    assert_eq!((run.code, json(&run)["schema"].as_str()), (Some(0), Some("whylate.apply/1")), "{run:#?}");
    assert!(saved(&file("apply.txt")).starts_with("apply 1 "), "{}", saved(&file("apply.txt")));
    for verb in ["verify", "history", "rollback"] {
        let path = file(&format!("{verb}.json"));
        let run = root.run(&[verb, "-o", &path]);
        assert_eq!(run.code, Some(0), "{run:#?}");
        let document: Value = serde_json::from_str(&saved(&path)).expect("JSON");
        let schema = if verb == "rollback" { "apply" } else { verb };
        assert_eq!(document["schema"], format!("whylate.{schema}/1"));
        assert!(!run.stdout.starts_with('{'), "{run:#?}");
    }
    let run = root.run(&["rollback"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:#?}");
}

/// The plan is not begun where it is known to fail; an optional setting is left out of it.
#[test]
fn a_value_that_the_kernel_will_refuse_is_predicted() {
    let root = Root::new();
    let before = root.everything();
    let profile = fs::read_to_string(&root.profile).expect("a profile");
    let with =
        |entry: &str| profile.replace("\"vm.swappiness\" = 10", &format!("\"vm.swappiness\" = {entry}"));
    fs::write(&root.profile, with("500")).expect("a profile");
    let run = root.apply(&[]);
    assert!(run.code == Some(1) && run.stderr.contains("refused[kernel-refuses]"), "{run:#?}");
    assert!(run.stdout.contains("will refuse it: EINVAL: it takes 0 to 200"), "{run:#?}");
    assert_eq!(root.everything(), before);
    fs::write(&root.profile, with("{ value = 500, optional = true }")).expect("a profile");
    let run = root.apply(&["--json"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "60\n");
    assert_eq!(root.text("/proc/sys/vm/stat_interval"), "10\n");
    let again = root.apply(&[]);
    assert!(again.code == Some(0) && again.stderr.contains("except for 1 optional"), "{again:#?}");
    assert_eq!(root.run(&["verify"]).code, Some(0));
}

#[test]
fn an_archive_cannot_be_changed() {
    let root = Root::new();
    let archive = root.directory.path().join("a.snapshot");
    fs::write(&archive, "").expect("a file");
    for verb in ["apply", "verify", "rollback", "history", "confirm"] {
        let run = whylate([verb, "--root", archive.to_str().expect("UTF-8")]);
        assert!(run.code == Some(2) && run.stderr.contains("only a directory"), "{verb}: {run:#?}");
    }
}

#[test]
fn an_unreadable_boot_loader_can_be_skipped() {
    let root = Root::new();
    fs::write(root.path(CMDLINE), "root=/dev/mmcblk0p2 \"quiet").expect("an open quote");
    let before = root.everything();
    let run = root.apply(&[]);
    assert!(run.code == Some(2) && run.stderr.contains("--skip-kernel-parameters"), "{run:#?}");
    assert_eq!(root.everything(), before);
    let run = root.apply(&["--skip-kernel-parameters"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    assert_eq!(root.everything(), before);
}
