//! `whylate lab run`: what it says before any guest is booted. Real runs are the step `lab` of
//! `cargo xtask test`.

use crate::support::run::{Run, command, ended, whylate};
use std::fs;

/// Exit code 2, nothing on standard output, and one message that has all of `words`.
fn refused(run: &Run, words: &[&str]) {
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
    for word in words {
        assert!(run.stderr.contains(word), "`{word}` is not in: {}", run.stderr);
    }
}

#[test]
fn every_scenario_is_listed_with_what_is_wrong() {
    let run = whylate(["lab", "run", "--list"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stdout.lines().count() > 40, "{}", run.stdout);
    assert!(run.stdout.contains("throttle "), "{}", run.stdout);
}

#[test]
fn what_is_no_scenario_is_refused_with_what_to_do() {
    refused(&whylate(["lab", "run", "no-such-fault"]), &["no-such-fault", "--list"]);
    refused(&whylate(["lab", "run"]), &["SCENARIO"]);
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("mine.toml");
    let text = "title = 'mine'\ninject = ['higher']\n[[expect]]\ncauses = ['magic']\n";
    fs::write(&file, text).expect("a file");
    let run = ended(command().args(["lab", "run"]).arg(&file).output().expect("the program starts"));
    refused(&run, &["mine.toml:4", "magic", "--code list"]);
}

#[test]
fn without_kernels_or_an_injector_it_says_how_to_get_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut lab = command();
    lab.args(["lab", "run", "higher"]).env("WHYLATE_LAB_CACHE", directory.path());
    refused(&ended(lab.output().expect("the program starts")), &["no kernel is cached", "--fetch"]);
}
