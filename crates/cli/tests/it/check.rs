//! `whylate check` and `whylate snapshot`: of captured machines, whose answers are known, and of this one.

use crate::support::run::whylate;
use crate::support::tracefs::one_at_a_time;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// A captured machine; the tests of `whylate-checks` cover every rule's answer for it.
fn snapshot(kernel: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checks/tests/fixtures");
    fixtures.join(format!("{kernel}.snapshot"))
}

#[test]
fn every_format_is_of_the_same_answers() {
    let file = snapshot("7.2-rt");
    let root = file.to_str().expect("UTF-8");
    let run = |format: &str| whylate(["check", "--root", root, "--format", format]);
    let first = run("json");
    let json: Value = serde_json::from_str(&first.stdout).expect("JSON");
    assert_eq!(whylate(["check", "--root", root, "--json"]).stdout, run("json").stdout);
    let codes: Vec<&str> = json["answers"]
        .as_array()
        .expect("answers")
        .iter()
        .filter_map(|answer| answer["code"].as_str())
        .collect();
    assert!(codes.len() > 5, "{codes:?}");
    let sarif: Value = serde_json::from_str(&run("sarif").stdout).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert!(results.iter().map(|result| result["ruleId"].as_str()).eq(codes.iter().map(|&code| Some(code))));
    for format in ["text", "junit", "markdown", "html"] {
        let run = run(format);
        assert!(codes.iter().all(|code| run.stdout.contains(code)), "{format}: {run:#?}");
        assert_eq!(run.code, first.code, "{format}");
    }
}

#[test]
fn a_file_s_ending_selects_its_format() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = snapshot("7.2-rt");
    let run = |name: &str| {
        let path = dir.path().join(name);
        let run =
            whylate(["check".as_ref(), "--root".as_ref(), file.as_os_str(), "-o".as_ref(), path.as_os_str()]);
        (run.code, std::fs::read_to_string(path).ok())
    };
    for (name, start) in [
        ("a.html", "<!DOCTYPE html>"),
        ("a.sarif", "{"),
        ("a.xml", "<?xml"),
        ("a.md", "# whylate check: "),
        ("a.json", "{"),
    ] {
        let (code, text) = run(name);
        assert!(
            code != Some(2) && text.as_ref().is_some_and(|text| text.starts_with(start)),
            "{name}: {text:?}"
        );
    }
    assert_eq!(run("a.doc"), (Some(2), None), "before anything is asked");
    let both = whylate(["check", "--json", "--format", "html"]);
    assert_eq!(both.code, Some(2), "{both:#?}");
}

#[test]
fn exit_codes_tell_found_from_cannot_tell() {
    let file = snapshot("7.2-rt");
    let code = |arguments: &[&str]| {
        let root = ["check", "--profile", "cpu-partitioning", "--root", file.to_str().expect("UTF-8")];
        whylate(root.iter().chain(arguments)).code
    };
    assert_eq!(code(&["--only", "smt", "--fail-on", "info"]), Some(0));
    assert_eq!(code(&["--only", "fair-server"]), Some(0), "a warning is no error");
    assert_eq!(code(&["--only", "fair-server", "--fail-on", "warning"]), Some(1));
    assert_eq!(code(&["--only", "rt-throttling", "--fail-on", "warning"]), Some(3));
    assert_eq!(code(&["--only", "fair-server,rt-throttling", "--fail-on", "warning"]), Some(1));
    assert_eq!(code(&["--only", "no-such-rule"]), Some(2));
    assert_eq!(code(&["--cpus", ""]), Some(2));
    assert_eq!(whylate(["check", "--profile", "none"]).code, Some(2));
    assert_eq!(code(&["--cpus", "4000"]), Some(2), "no such CPU");
}

#[test]
fn a_snapshot_is_answered_like_the_machine() {
    // The threads and the trace of a measurement are findings.
    let _turn = one_at_a_time();
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
