//! Recordings of machines of other architectures.

use super::explain;
use crate::support::answer::{list, number};
use crate::support::run::fixture;
use serde_json::Value;

/// Page faults by the probe that stands in for the events that arm64 lacks, against the program's own late jobs.
#[test]
fn a_recording_of_arm64_agrees_with_the_programs_own_times() {
    let label = std::fs::read_to_string(fixture("6.12-rt-arm64-page-fault.json")).expect("the program's log");
    let label: Value = serde_json::from_str(&label).expect("JSON");
    let file = fixture("6.12-rt-arm64-page-fault.dat.gz");
    let (code, document) = explain(&file, &["--task", "victim", "--deadline", "5ms"]);
    assert_eq!(code, Some(1));
    let jobs = list(&label["late_jobs"]);
    let late: Vec<&Value> = list(&document["activations"])
        .iter()
        .filter(|activation| number(&activation["response_ns"]) > number(&label["limit_ns"]))
        .collect();
    assert_eq!(late.len(), jobs.len());
    for activation in late {
        let due = number(&activation["due_ns"]);
        let job = jobs.iter().find(|job| number(&job["due"]) == due);
        let job = job.unwrap_or_else(|| panic!("the program was not late at {due}"));
        assert!(due + number(&activation["response_ns"]) >= number(&job["done"]));
        assert_eq!(activation["verdict"]["cause"], "page-fault", "{activation:#}");
        assert_eq!(activation["verdict"]["confidence"], "medium");
    }
    // The timer of the CPU itself is no device that could be moved.
    for finding in list(&document["findings"]) {
        assert_ne!(finding["code"], "irq", "{finding:#}");
    }
}

/// What another machine recorded: 32-bit words, the other byte order, its own numbers of system calls. The same recording, encoded
/// for each (`crates/ftrace/tests/foreign.rs`), has the same explanation.
#[test]
fn recordings_of_32_bit_and_big_endian_machines_are_explained() {
    let explained = |name: &str| {
        let (code, mut answer) = explain(&fixture(name), &[]);
        assert_eq!(code, Some(1), "{name}");
        // The file, its sizes, and the machine.
        answer.as_object_mut().expect("a document").remove("trace");
        answer
    };
    let own = explained("made-aarch64-lock-chain.dat.gz");
    let [verdict] = &list(&own["activations"])
        .iter()
        .filter(|one| one["comm"] == "victim")
        .take(1)
        .map(|one| &one["verdict"])
        .collect::<Vec<_>>()[..]
    else {
        panic!("the victim is late")
    };
    assert_eq!(verdict["cause"], "lock-inversion");
    for machine in ["armv7l", "armv7b", "aarch64_be"] {
        let other = explained(&format!("made-{machine}-lock-chain.dat.gz"));
        assert!(other == own, "{machine}: {:#}", other["findings"]);
    }
}
