//! `whylate-lab run` before any guest is booted. Real runs are the step `lab` of
//! `cargo xtask test`.

use crate::support::{Run, command, ended};
use std::fs;

fn lab(arguments: &[&str]) -> Run {
    ended(command().args(arguments).output().expect("the program starts"))
}

#[test]
fn every_scenario_is_listed_with_what_is_wrong() {
    let run = lab(&["run", "--list"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stdout.lines().count() > 40, "{}", run.stdout);
    assert!(run.stdout.contains("throttle "), "{}", run.stdout);
}

#[test]
fn what_is_no_scenario_is_refused_with_what_to_do() {
    lab(&["run", "no-such-fault"]).is_refused(&["no-such-fault", "--list"]);
    lab(&["run"]).is_refused(&["SCENARIO"]);
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("mine.toml");
    let text = "title = 'mine'\ninject = ['higher']\n[[expect]]\ncauses = ['magic']\n";
    fs::write(&file, text).expect("a file");
    let run = ended(command().arg("run").arg(&file).output().expect("the program starts"));
    run.is_refused(&["mine.toml:4", "magic", "--code list"]);
}

#[test]
fn without_kernels_or_an_injector_it_says_how_to_get_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut lab = command();
    lab.args(["run", "higher"]).env("WHYLATE_LAB_CACHE", directory.path());
    ended(lab.output().expect("the program starts")).is_refused(&["no kernel for ", " is cached", "--fetch"]);
}
