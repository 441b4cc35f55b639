//! Options, and the exit codes that depend on them.

use super::explain;
use crate::support::answer::{list, number};
use crate::support::run::{fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;

#[test]
fn exit_codes_follow_the_gravest_finding() {
    let code = |file: &str, options: &[&str]| {
        let file = fixture(file);
        let arguments = [OsStr::new("explain"), file.as_os_str()];
        whylate(arguments.into_iter().chain(options.iter().map(OsStr::new))).code
    };
    assert_eq!(code("6.1-throttle.dat", &[]), Some(1));
    assert_eq!(code("6.1-higher.dat", &["--task", "victim"]), Some(0));
    assert_eq!(code("6.1-higher.dat", &["--task", "victim", "--fail-on", "warning"]), Some(1));
    assert_eq!(code("6.1-nothing.dat", &["--fail-on", "warning"]), Some(0));
    assert_eq!(code("6.1-nothing.dat", &["--task", "no-such-thread"]), Some(3));
    assert_eq!(code("no-such-file.dat", &[]), Some(2));
}

#[test]
fn a_missed_deadline_is_a_finding_and_a_met_one_is_none() {
    let file = fixture("6.1-higher.dat");
    let with = |deadline: &str| explain(&file, &["--task", "victim", "--deadline", deadline]).1;
    let missed = with("1ms");
    let met = with("5ms");
    let missing = |answer: &Value| {
        list(&answer["findings"]).iter().filter(|finding| finding["severity"] == "error").count()
    };
    assert!(missing(&missed) > 0, "{:#}", missed["findings"]);
    assert_eq!(missing(&met), 0, "{:#}", met["findings"]);
}

#[test]
fn tasks_are_chosen_by_name_and_by_number() {
    let file = fixture("6.1-inversion.dat");
    let (_, all) = explain(&file, &[]);
    let of = |name: &str| {
        let tasks = list(&all["tasks"]);
        number(&tasks.iter().find(|task| task["comm"] == name).expect("a task")["tid"])
    };
    let (victim, owner) = (of("victim"), of("low-owner"));
    let (_, chosen) = explain(&file, &["--task", "victim", "-t", &owner.to_string(), "--worst", "3"]);
    let mut tids: Vec<i64> = list(&chosen["tasks"]).iter().map(|task| number(&task["tid"])).collect();
    tids.sort_unstable();
    let mut expected = vec![victim, owner];
    expected.sort_unstable();
    assert_eq!(tids, expected);
    assert_eq!(list(&chosen["activations"]).len(), 6, "three of each");
}

#[test]
fn every_cause_and_every_finding_has_a_page() {
    let list = whylate(["explain", "--code", "list"]);
    assert_eq!(list.code, Some(0));
    let codes: Vec<&str> = list.stdout.lines().collect();
    for code in
        ["rt-throttled", "lock-inversion", "unexplained", "deadline-missed", "unseen-switches", "os-noise"]
    {
        assert!(codes.contains(&code), "{codes:?}");
    }
    for folder in ["causes", "findings"] {
        let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ledger/docs").join(folder);
        for page in std::fs::read_dir(&pages).expect("pages") {
            let page = page.expect("a page").path();
            let code = page.file_stem().and_then(OsStr::to_str).expect("a name");
            assert!(codes.contains(&code), "{} is not in {codes:?}", page.display());
        }
    }
    for code in codes {
        let page = whylate(["explain", "--code", code]);
        assert_eq!(page.code, Some(0));
        assert!(page.stdout.contains(code) && page.stdout.len() > 200, "{code}: {}", page.stdout);
    }
}
