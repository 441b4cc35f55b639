//! `whylate explain` of scheduler statistics (`sched_stat_sleep`, `sched_stat_wait`) in place of wake-ups (`fixtures/README.md`).

use crate::support::answer::{answer, list, number};
use crate::support::run::{fixture, whylate};
use std::ffi::OsStr;
use std::fs;

/// When each activation of `tid` was due and what it took until the thread ran, in microseconds, by a text without these events.
fn latencies(tid: &str, without: &[&str]) -> Vec<(i64, i64)> {
    let text = fs::read_to_string(fixture("6.12-sched-stat.txt")).expect("the fixture");
    let kept: Vec<&str> =
        text.lines().filter(|line| !without.iter().any(|event| line.contains(event))).collect();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("trace.txt");
    fs::write(&file, kept.join("\n")).expect("a file");
    let run =
        whylate(["explain", "--json", "--task", tid].map(OsStr::new).into_iter().chain([file.as_os_str()]));
    let answer = answer(&run.stdout);
    let of = |key: &str, one: &serde_json::Value| number(&one[key]) / 1_000;
    let seen = list(&answer["activations"]).iter().filter(|one| one["latency_ns"].is_i64());
    let mut all: Vec<(i64, i64)> = seen.map(|one| (of("due_ns", one), of("latency_ns", one))).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_statistic_of_a_sleep_or_a_wait_shows_when_a_thread_was_woken() {
    let wakeups = ["sched_waking", "sched_wakeup"];
    let sleeps =
        ["sched_waking", "sched_wakeup", "sched_stat_sleep", "sched_stat_blocked", "sched_stat_iowait"];
    for tid in ["122", "120"] {
        let expected = latencies(tid, &[]);
        assert!(expected.len() >= 4, "{expected:?}");
        // A sleep ends between sched_waking and sched_wakeup; the runqueue's clock may stand still while interrupts are off.
        for (without, blur) in [(&wakeups[..], 4), (&sleeps[..], 12)] {
            let found = latencies(tid, without);
            for (due, latency) in &expected {
                let near = |(at, _): &&(i64, i64)| (at - due).abs() <= blur;
                let (_, seen) =
                    found.iter().find(near).unwrap_or_else(|| panic!("{tid} at {due}: {found:?}"));
                assert!((seen - latency).abs() <= blur, "{tid}: {seen} for {latency}");
            }
        }
        // With wake-ups the statistics add nothing but a wait that began before the recording.
        let by_wakeups = latencies(tid, &["sched_stat_"]);
        assert!(expected.ends_with(&by_wakeups) && expected.len() - by_wakeups.len() <= 1, "{by_wakeups:?}");
    }
}
