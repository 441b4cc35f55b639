//! Recordings of faults that were provoked on purpose, and of none.

use super::{explain, finding};
use crate::support::answer::{list, number, verdict};
use crate::support::run::{fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;

/// A recording, and what is known about its thread `victim`.
struct Known {
    file: &'static str,
    /// Jobs with a longer response than this are the late ones.
    late_us: i64,
    /// How many of them there are, by the log of the program that provoked them.
    late: usize,
    cause: &'static str,
    culprit: &'static str,
    /// A finding that must be there: its code, and a name in its title or reason.
    finding: Option<(&'static str, &'static str)>,
    code: i32,
}

const KNOWN: &[Known] = &[
    Known {
        file: "6.1-throttle.dat",
        late_us: 1000,
        late: 2,
        cause: "rt-throttled",
        culprit: "hog",
        finding: Some(("rt-throttled", "hog")),
        code: 1,
    },
    Known {
        file: "6.1-higher.dat",
        late_us: 1000,
        late: 8,
        cause: "higher-priority-task",
        culprit: "rogue-high",
        finding: Some(("higher-priority-task", "rogue-high")),
        code: 0,
    },
    Known {
        file: "6.1-higher-v6.dat",
        late_us: 1000,
        late: 1,
        cause: "higher-priority-task",
        culprit: "rogue-high",
        finding: Some(("higher-priority-task", "rogue-high")),
        code: 0,
    },
    Known {
        file: "7.2-rt-higher.dat",
        late_us: 1000,
        late: 8,
        cause: "higher-priority-task",
        culprit: "rogue-high",
        finding: Some(("higher-priority-task", "rogue-high")),
        code: 0,
    },
    Known {
        file: "6.1-equal.dat",
        late_us: 1000,
        late: 8,
        cause: "equal-priority-task",
        culprit: "peer",
        finding: Some(("equal-priority-task", "peer")),
        code: 0,
    },
    Known {
        file: "6.1-deadline.dat",
        late_us: 1000,
        late: 8,
        cause: "deadline-task",
        culprit: "edf-0",
        finding: Some(("deadline-task", "edf-0")),
        code: 0,
    },
    Known {
        file: "6.1-inversion.dat",
        late_us: 1000,
        late: 8,
        cause: "lock-inversion",
        culprit: "middle-hog",
        finding: Some(("lock-inversion", "low-owner")),
        code: 1,
    },
    Known {
        file: "6.1-lock-chain.dat",
        late_us: 1000,
        late: 8,
        cause: "lock-inversion",
        culprit: "middle-hog",
        finding: Some(("lock-inversion", "low-owner")),
        code: 1,
    },
    Known {
        file: "6.1-pi.dat",
        late_us: 1000,
        late: 8,
        cause: "lock-wait",
        culprit: "low-owner",
        finding: Some(("lock-wait", "low-owner")),
        code: 0,
    },
    Known {
        file: "6.1-page-fault.dat",
        late_us: 1000,
        late: 7,
        cause: "page-fault",
        culprit: "",
        finding: None,
        code: 0,
    },
    Known {
        file: "6.1-own-work.dat",
        late_us: 1000,
        late: 8,
        cause: "own-work",
        culprit: "",
        finding: None,
        code: 0,
    },
    Known {
        file: "6.1-softirq.dat",
        late_us: 1000,
        late: 41,
        cause: "softirq",
        culprit: "NET_RX",
        finding: Some(("softirq", "NET_RX")),
        code: 0,
    },
];

#[test]
fn provoked_faults_are_named() {
    for known in KNOWN {
        let (code, answer) = explain(&fixture(known.file), &["--task", "victim", "--worst", "1000"]);
        let late: Vec<&Value> = list(&answer["activations"])
            .iter()
            .filter(|activation| number(&activation["response_ns"]) > known.late_us * 1000)
            .collect();
        assert_eq!(late.len(), known.late, "{}: late activations", known.file);
        for activation in late {
            let due = &activation["due_ns"];
            assert_eq!(verdict(activation), (known.cause, known.culprit), "{}: due {due}", known.file);
        }
        if let Some((code, name)) = known.finding {
            assert!(finding(&answer, code, name).is_some(), "{}: {:#}", known.file, answer["findings"]);
        }
        assert_eq!(code, Some(known.code), "{}: {:#}", known.file, answer["findings"]);
        assert_eq!(list(&answer["trace"]["damage"]), [] as [Value; 0], "{}", known.file);
    }
}

#[test]
fn throttling_is_reported_with_its_period() {
    let (_, answer) = explain(&fixture("6.1-throttle.dat"), &["--task", "victim"]);
    let finding = finding(&answer, "rt-throttled", "hog").expect("a finding");
    let title = finding["title"].as_str().unwrap_or_default();
    assert!(title.contains("2 times") && title.contains("CPU 0"), "{title}");
    let times: Vec<i64> = list(&finding["evidence"]).iter().map(|seen| number(&seen["at_ns"])).collect();
    let [first, second] = times[..] else { panic!("two stretches: {finding:#}") };
    assert!((second - first - 1_000_000_000).abs() < 10_000_000, "one second apart: {first} {second}");
    let worst = &answer["activations"][0];
    assert!((44_000_000..46_000_000).contains(&number(&worst["response_ns"])), "{}", worst["response_ns"]);
}

#[test]
fn the_fair_server_is_distinguished_from_throttling() {
    let (code, answer) = explain(&fixture("7.2-fair-server.dat"), &["--task", "victim", "--worst", "1000"]);
    let late: Vec<_> = list(&answer["activations"])
        .iter()
        .filter(|activation| number(&activation["response_ns"]) > 20_000_000)
        .map(|activation| verdict(activation).0)
        .collect();
    assert_eq!(late, ["fair-server"; 3]);
    assert!(finding(&answer, "fair-server", "hog").is_some(), "{:#}", answer["findings"]);
    assert!(finding(&answer, "rt-throttled", "").is_none(), "{:#}", answer["findings"]);
    assert_eq!(code, Some(1));
}

#[test]
fn a_thread_that_pinned_itself_too_early_is_reported() {
    let (code, answer) = explain(&fixture("6.12-rt-pin-first.dat"), &["--task", "victim"]);
    assert_eq!(verdict(&answer["activations"][0]), ("pinned-before-priority", "hog"));
    let finding = finding(&answer, "pinned-before-priority", "victim").expect("a finding");
    assert_eq!(finding["severity"], "error");
    assert_eq!(code, Some(1));
}

#[test]
fn drift_is_distinguished_from_lateness() {
    let (_, answer) = explain(&fixture("6.1-relative-sleep.dat"), &["--task", "victim", "--worst", "1000"]);
    assert!(finding(&answer, "relative-sleep", "victim").is_some(), "{:#}", answer["findings"]);
    names_no_culprit(&answer, &["relative-sleep"]);
}

#[test]
fn where_nothing_is_wrong_no_culprit_is_named() {
    let (code, answer) = explain(&fixture("6.1-nothing.dat"), &[]);
    names_no_culprit(&answer, &[]);
    assert_eq!(code, Some(0));
    let run = whylate([OsStr::new("explain"), fixture("6.1-nothing.dat").as_os_str()]);
    assert_eq!(run.stdout.matches("No finding: ").count(), 1, "{run:#?}");
}

/// No finding but those of `allowed` codes is a warning or worse.
fn names_no_culprit(answer: &Value, allowed: &[&str]) {
    for finding in list(&answer["findings"]) {
        let code = finding["code"].as_str().unwrap_or_default();
        assert!(finding["severity"] == "info" || allowed.contains(&code), "{finding:#}");
    }
}

/// Priority inheritance bounds the wait: a thread that the boosted owner preempts is no culprit.
#[test]
fn with_priority_inheritance_the_middle_thread_is_innocent() {
    let (_, answer) = explain(&fixture("6.1-pi.dat"), &["--task", "victim", "--worst", "1000"]);
    assert!(finding(&answer, "lock-inversion", "").is_none(), "{:#}", answer["findings"]);
    for activation in list(&answer["activations"]) {
        assert_ne!(verdict(activation).1, "middle-hog", "due {}", activation["due_ns"]);
    }
}
