//! `whylate check` and `whylate snapshot`: of captured machines, whose answers are known, and of this one.

use crate::support::run::{fixture, whylate};
use serde_json::Value;
use std::collections::BTreeMap;

/// The status of each rule.
fn statuses(arguments: &[&str]) -> (BTreeMap<String, String>, Option<i32>) {
    let run = whylate(["check", "--json"].iter().chain(arguments));
    let document: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
    assert_eq!(document["schema"], "whylate.check/1");
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let answers = document["answers"].as_array().expect("answers");
    (answers.iter().map(|answer| (text(&answer["code"]), text(&answer["status"]))).collect(), run.code)
}

#[test]
fn captured_machines_are_judged_elsewhere() {
    // Of the second, nobody installed the kernel's configuration.
    for (name, build_known) in [("6.12-rt.snapshot", true), ("7.2-rt.snapshot", false)] {
        let file = fixture(name);
        let (found, code) = statuses(&["--root", file.to_str().expect("UTF-8")]);
        let by_build = if build_known { "pass" } else { "cannot-tell" };
        let expected = [
            ("clocksource", "pass"),
            ("fair-server", "fail"),
            ("governor", "not-applicable"),
            ("irq-affinity", "not-applicable"),
            ("preempt-rt", "pass"),
            ("rogue-rt-threads", "pass"),
            ("rt-group-sched", by_build),
            ("rt-kernel-not-booted", "pass"),
            ("rt-throttling", by_build),
            ("smt", "pass"),
            ("throttling-off-no-net", by_build),
        ];
        for (rule, status) in expected {
            assert_eq!(found.get(rule).map(String::as_str), Some(status), "{name}: {rule}");
        }
        assert_eq!(code, Some(0), "{name}: there are warnings only");
    }
}

#[test]
fn exit_codes_tell_found_from_cannot_tell() {
    let file = fixture("7.2-rt.snapshot");
    let code = |arguments: &[&str]| {
        let root = ["check", "--root", file.to_str().expect("UTF-8")];
        whylate(root.iter().chain(arguments)).code
    };
    assert_eq!(code(&["--only", "smt", "--fail-on", "info"]), Some(0));
    assert_eq!(code(&["--only", "fair-server"]), Some(0), "a warning is no error");
    assert_eq!(code(&["--only", "fair-server", "--fail-on", "warning"]), Some(1));
    assert_eq!(code(&["--only", "rt-throttling", "--fail-on", "warning"]), Some(3));
    assert_eq!(code(&["--only", "fair-server,rt-throttling", "--fail-on", "warning"]), Some(1));
    assert_eq!(code(&["--only", "no-such-rule"]), Some(2));
    assert_eq!(code(&["--cpus", ""]), Some(2));
    assert_eq!(code(&["--profile", "none"]), Some(2));
}

#[test]
fn a_snapshot_is_answered_like_the_machine() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("here");
    let path = file.to_str().expect("UTF-8");
    let run = whylate(["snapshot", "-o", path, "--redact"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(statuses(&["--root", path]).0, statuses(&[]).0);
}

#[test]
fn no_secret_is_asked_for() {
    let run = whylate(["snapshot", "--list"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    for secret in ["environ", "shadow", "serial", "product_uuid"] {
        assert!(!run.stdout.contains(secret), "{secret}");
    }
    let commands = run.stdout.lines().filter(|line| line.ends_with("/cmdline"));
    assert!(
        commands.eq(run.stdout.lines().filter(|line| line.ends_with(" /proc/cmdline"))),
        "{}",
        run.stdout
    );
}

#[test]
fn rules_explain_themselves() {
    let list = whylate(["check", "--explain", "list"]);
    assert!(list.stdout.lines().any(|line| line == "preempt-rt"), "{list:#?}");
    let page = whylate(["check", "--explain", "preempt-rt"]);
    assert!(page.stdout.starts_with("# preempt-rt\n"), "{page:#?}");
    assert_eq!(whylate(["check", "--explain", "nothing"]).code, Some(2));
}
