//! `whylate explain --begin-marker`: activations from marker to marker, compared with the program's own times.

use crate::support::answer::{answer, list, number};
use crate::support::run::{Run, fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;

/// From the program's reading of the clock to the kernel's own, around a write that enters the kernel.
const BETWEEN_CLOCKS_NS: i64 = 100_000;

fn explain(options: &[&str]) -> Run {
    let file = fixture("6.18-markers.txt.gz");
    let arguments = [OsStr::new("explain"), OsStr::new("--json"), file.as_os_str()];
    whylate(arguments.into_iter().chain(options.iter().map(OsStr::new)))
}

#[test]
fn activations_are_those_that_the_program_marked() {
    let label = std::fs::read_to_string(fixture("6.18-markers.json")).expect("the program's own log");
    let label: Value = serde_json::from_str(&label).expect("JSON");
    let run = explain(&["--begin-marker", "cycle begin", "--end-marker", "cycle end", "--deadline", "2ms"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    let document = answer(&run.stdout);
    let activations = list(&document["activations"]);
    let cycles = list(&label["cycles_ns"]);
    assert_eq!(activations.len(), cycles.len());
    for cycle in cycles {
        let (begin, end) = (number(&cycle[0]), number(&cycle[1]));
        let near = |activation: &&Value| {
            let due = number(&activation["due_ns"]);
            let done = due + number(&activation["response_ns"]);
            (0..BETWEEN_CLOCKS_NS).contains(&(due - begin)) && (0..BETWEEN_CLOCKS_NS).contains(&(end - done))
        };
        let activation = activations.iter().find(near);
        let activation = activation.unwrap_or_else(|| panic!("no activation of {begin}..{end}"));
        assert_eq!(activation["trigger"]["kind"], "marker");
        assert!(activation["latency_ns"].is_null());
    }
    let late: Vec<&Value> =
        activations.iter().filter(|activation| number(&activation["response_ns"]) > 2_000_000).collect();
    assert_eq!(late.len(), 1, "the program slept for 20 ms in one cycle");
    assert_eq!(late[0]["verdict"]["cause"], "own-wait");
}

#[test]
fn a_marker_that_no_line_has_is_no_answer() {
    let run = explain(&["--begin-marker", "cycel"]);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stderr.contains("no line in trace_marker begins with `cycel`"), "{}", run.stderr);
    let run = explain(&["--begin-marker", "cycle", "--task", "other"]);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stderr.contains("no line of other in trace_marker"), "{}", run.stderr);
}

#[test]
fn markers_that_cannot_be_are_refused() {
    let long = "x".repeat(63);
    for (options, words) in [
        (["--begin-marker", ""].as_slice(), "give its first word"),
        (&["--begin-marker", &long], "62 bytes at most"),
        (&["--end-marker", "end"], "--begin-marker"),
    ] {
        let run = explain(options);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
}
