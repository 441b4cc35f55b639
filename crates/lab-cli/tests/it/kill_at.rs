//! `whylate-lab kill-at`: a program is killed before its Nth change, and otherwise runs as without it.

use crate::support::{command, ended};

#[test]
fn the_exit_code_is_the_shells() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |at: &str, script: &str| {
        let mut lab = command();
        lab.current_dir(directory.path()).args(["kill-at", at, "--", "/bin/sh", "-c", script]);
        ended(lab.output().expect("the program starts"))
    };
    assert_eq!(run("1", "echo 1 > file; exit 3").code, Some(137));
    assert!(!directory.path().join("file").exists(), "killed before it was made");
    let whole = run("2", "echo 1 > file; echo said; exit 3");
    assert_eq!((whole.code, whole.stdout.as_str()), (Some(3), "said\n"), "{whole:#?}");
    assert!(directory.path().join("file").exists());
    run("0", "true").is_refused(&["0"]);
}
