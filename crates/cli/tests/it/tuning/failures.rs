//! Applies that are killed or that fail: resumed and rolled back.

use super::root::{BLOCK, CMDLINE, Root, json, standings};
use std::fs;

/// Kills an apply before its first, then each `step`-th system call that changes anything, until one ends by itself:
/// whatever was done, a rollback leaves the machine as before. At how many places it was killed, and how it ended.
fn killed_everywhere(root: fn() -> Root, more: &[&str], step: usize) -> (usize, Option<i32>) {
    for (killed, at) in (1..).step_by(step).enumerate() {
        let root = root();
        let before = root.everything();
        let ended = root.run_killed(at, &[&root.apply_words()[..], more].concat());
        // The undo is killed as well, somewhere in the middle.
        root.run_killed((at / 2).max(1), &["rollback"]);
        let run = root.run(&["rollback"]);
        assert_eq!(run.code, Some(0), "at {at}: {run:#?}");
        assert_eq!(root.everything(), before, "killed at {at}");
        assert!(standings(&root).iter().all(|standing| standing == "rolled-back" || standing == "empty"));
        if ended.code().is_some() {
            return (killed, ended.code());
        }
    }
    unreachable!("an apply ends");
}

#[test]
fn an_apply_killed_at_any_point_is_rolled_back_exactly() {
    let (killed, code) = killed_everywhere(Root::new, &[], 1);
    assert!(killed > 60 && code == Some(0), "killed at {killed} places only");
}

#[test]
fn so_is_one_that_goes_on_after_a_failure_or_undoes_itself() {
    for action in ["continue", "rollback"] {
        let (killed, code) = killed_everywhere(Root::blocked, &["--on-failure", action], 3);
        assert!(killed > 20 && code == Some(2), "{action}: killed at {killed} places only");
    }
}

#[test]
fn what_happens_after_a_failure_is_the_user_s_choice() {
    let root = Root::blocked();
    let before = root.everything();
    let run = root.apply(&["--on-failure", "rollback", "--json"]);
    assert_eq!((run.code, standings(&root)), (Some(2), vec!["rolled-back".to_owned()]), "{run:#?}");
    assert!(run.stderr.contains("cmdline.txt") && run.stderr.contains("it is undone"), "{run:#?}");
    assert_eq!(json(&run)["applies"][0]["action"], "rollback");
    assert_eq!(root.everything(), before);
    let run = root.apply(&["--on-failure", "continue"]);
    assert_eq!((run.code, standings(&root)[1].as_str()), (Some(2), "failed"), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    let run = root.run(&["apply", "--resume", "--on-failure", "rollback"]);
    assert_eq!((run.code, standings(&root)[1].as_str()), (Some(2), "rolled-back"), "{run:#?}");
    assert_eq!(root.everything(), before);
}

#[test]
fn a_failed_step_is_reported_resumed_and_rolled_back() {
    let root = Root::blocked();
    let blocked = root.path(BLOCK);
    let before = root.everything();
    let run = root.apply(&[]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(
        run.stdout.contains("whylate apply --resume") && run.stdout.contains("whylate rollback"),
        "{run:#?}"
    );
    assert!(run.stdout.contains("cmdline.txt"), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    let again = root.apply(&[]);
    assert!(again.code == Some(2) && again.stderr.contains("--resume"), "{again:#?}");
    fs::remove_dir(&blocked).expect("the directory");
    let run = root.run(&["apply", "--resume"]);
    assert!(run.code == Some(0) && root.text(CMDLINE).contains("nohz_full"), "{run:#?}");
    let run = root.run(&["apply", "--resume"]);
    assert_eq!(run.code, Some(2), "there is nothing to go on with: {run:#?}");
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    fs::create_dir(&blocked).expect("a directory");
    assert_eq!(root.everything(), before);
}
