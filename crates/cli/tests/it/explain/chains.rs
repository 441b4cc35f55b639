//! Chains of threads and packets (`--chain`, `--chains`), beside the times that the program took itself.

use super::explain;
use crate::support::answer::{list, number};
use crate::support::run::{fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;

/// Three threads in a row, recorded on 6.18, with the times that the last one took itself.
#[test]
fn a_chain_is_found_and_agrees_with_the_programs_own_times() {
    let file = fixture("6.18-pipeline.dat.gz");
    let label = std::fs::read_to_string(fixture("6.18-pipeline.json")).expect("the program's own log");
    let label: Value = serde_json::from_str(&label).expect("JSON");
    let (code, document) = explain(&file, &["--chain", "timer -> sense -> plan -> net:lo -> act"]);
    assert_eq!(code, Some(0));
    let [chain] = list(&document["chains"]) else { panic!("{:#}", document["chains"]) };
    assert_eq!(chain["path"], serde_json::json!(["timer", "sense", "plan", "net:lo", "act"]));
    let period = number(&chain["period_ns"]);
    assert!((9_900_000..=10_100_000).contains(&period), "{period}");
    assert!(number(&chain["count"]) >= 25);
    for instance in list(&chain["worst"]) {
        let hops = list(&instance["hops"]);
        let mut at = number(&instance["start_ns"]);
        for hop in hops {
            assert_eq!(number(&hop["start_ns"]), at);
            let charged: i64 = list(&hop["charges"]).iter().map(|charge| number(&charge["ns"])).sum();
            assert_eq!(charged, number(&hop["ns"]), "{hop:#}");
            at += number(&hop["ns"]);
        }
        assert_eq!(at, number(&instance["start_ns"]) + number(&instance["latency_ns"]));
        // The packet was sent after the program says that it was about to send it, and before it was read.
        let [.., packet, done] = hops else { panic!("{hops:?}") };
        let sent = number(&packet["start_ns"]);
        let job = list(&label["late_jobs"])
            .iter()
            .find(|job| (number(&job["due"])..=number(&job["start"])).contains(&sent))
            .unwrap_or_else(|| panic!("no job has its packet sent at {sent}"));
        assert!(number(&done["start_ns"]) <= number(&job["start"]));
        assert!(at >= number(&job["done"]), "the chain ends before the job does");
    }
    let why = chain["worst"][0]["verdict"]["why"].as_str().expect("a reason");
    assert!(why.contains("higher-priority-task") && why.contains("rogue-high"), "{why}");
}

/// Each activation that a packet began is due between the instants that the program took before and after it.
#[test]
fn an_activation_that_a_packet_causes_is_due_when_it_was_sent() {
    let label = std::fs::read_to_string(fixture("6.18-pipeline.json")).expect("the program's own log");
    let label: Value = serde_json::from_str(&label).expect("JSON");
    let (_, document) = explain(&fixture("6.18-pipeline.dat.gz"), &["--task", "act", "--worst", "100"]);
    let dues: Vec<i64> = list(&document["activations"]).iter().map(|one| number(&one["due_ns"])).collect();
    let jobs = list(&label["late_jobs"]);
    assert!(jobs.len() >= 20, "{} jobs", jobs.len());
    for job in jobs {
        let span = number(&job["due"])..=number(&job["start"]);
        assert!(dues.iter().any(|due| span.contains(due)), "no activation is due in {span:?}");
    }
}

#[test]
fn a_chain_that_is_not_there_is_no_answer() {
    let file = fixture("6.18-pipeline.dat.gz");
    let run = |options: &[&str]| {
        let arguments = [OsStr::new("explain"), file.as_os_str()];
        whylate(arguments.into_iter().chain(options.iter().map(OsStr::new)))
    };
    let unknown = run(&["--chain", "sens -> act"]);
    assert_eq!(unknown.code, Some(2), "{unknown:#?}");
    assert!(unknown.stderr.contains("`sens`") && unknown.stderr.contains("sense"), "{unknown:#?}");
    let elsewhere = run(&["--chain", "act -> sense"]);
    assert_eq!(elsewhere.code, Some(3), "{elsewhere:#?}");
    assert!(elsewhere.stderr.contains("no instance of the chain act -> sense"), "{elsewhere:#?}");
    assert_eq!(run(&["--chain", "act"]).code, Some(2));
    let late = run(&["--chains", "--chain-deadline", "2ms"]);
    assert_eq!(late.code, Some(1), "{late:#?}");
    assert!(late.stdout.contains("missed its deadline of 2.00 ms"), "{late:#?}");
}

#[test]
fn a_page_draws_chains_with_arrows() {
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("chains.html");
    let file = fixture("6.18-pipeline.dat.gz");
    let arguments =
        [OsStr::new("explain"), OsStr::new("--chains"), OsStr::new("-o"), page.as_os_str(), file.as_os_str()];
    let run = whylate(arguments);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let page = std::fs::read_to_string(page).expect("the page");
    for expected in ["timer → sense → plan → net:lo → act", "↓ write", "↓ packet", "napi-poll"] {
        assert!(page.contains(expected), "{expected}");
    }
}
