//! `whylate explain` of rows of `perf sched timehist`, beside the events that they were made of (`fixtures/README.md`).

use crate::support::answer::{answer, list, number, verdict};
use crate::support::run::{fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;

fn explain(file: &str) -> Value {
    let file = fixture(file);
    let run = whylate(
        ["explain", "--json", "--task", "10350"].map(OsStr::new).into_iter().chain([file.as_os_str()]),
    );
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    answer(&run.stdout)
}

/// When an activation was due, and how long it took until it ran and until it was done, in microseconds.
fn times(activation: &Value) -> [i64; 3] {
    ["due_ns", "latency_ns", "response_ns"].map(|key| number(&activation[key]) / 1_000)
}

/// The latest one, whose culprit had the CPU.
fn latest(answer: &Value) -> &Value {
    let all = list(&answer["activations"]).iter().filter(|one| one["latency_ns"].is_i64());
    all.max_by_key(|one| number(&one["latency_ns"])).expect("an activation")
}

#[test]
fn rows_have_the_times_and_the_culprit_of_their_events() {
    let events = explain("6.18-timehist-events.txt");
    let expected = latest(&events);
    assert_eq!(verdict(expected), ("higher-priority-task", "python3"));
    for file in ["6.18-timehist.txt", "6.18-timehist-all.txt"] {
        let rows = explain(file);
        assert_eq!(rows["trace"]["format"], "perf sched timehist text");
        let found = latest(&rows);
        for (found, expected) in times(found).into_iter().zip(times(expected)) {
            assert!((found - expected).abs() <= 3, "{file}: {found} for {expected}");
        }
        // Of no priority it is known whether it is the higher one.
        assert_eq!(verdict(found), ("other-task", "python3"), "{file}");
        assert_eq!(found["verdict"]["by"]["tid"], expected["verdict"]["by"]["tid"], "{file}");
        assert_eq!(found["verdict"]["confidence"], "medium", "{file}");
        let cannot_tell = |what: &str| {
            list(&rows["missing"])
                .iter()
                .any(|one| one["cannot_tell"].as_str().is_some_and(|text| text.contains(what)))
        };
        assert!(cannot_tell("priorities") && cannot_tell("hard interrupt handlers"), "{file}");
        assert!(
            list(&rows["findings"]).iter().all(|finding| finding["severity"] == "info"),
            "{file}: {rows:#}"
        );
    }
}
