//! `whylate measure` on this machine, with whatever rights the tests have: it always measures,
//! and reports what it could not do.

use crate::support::answer::{list, measurement, number, tiles};
use crate::support::run::{Run, as_nobody, command, ended, whylate};
use crate::support::tracefs::one_at_a_time;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

fn measure(options: &[&str]) -> Run {
    whylate(["measure"].into_iter().chain(options.iter().copied()))
}

/// The report, with sums that must come out whatever was measured.
fn report(run: &Run) -> Value {
    let report = measurement(run);
    for cpu in list(&report["cpus"]) {
        let samples = number(&cpu["samples"]);
        let in_histogram: i64 = list(&cpu["histogram"]).iter().map(|bin| number(&bin["count"])).sum();
        assert_eq!(in_histogram + number(&cpu["overflow"]), samples, "{}", cpu["cpu"]);
        let latency = &cpu["latency_ns"];
        let rising: Vec<i64> =
            ["min", "p50", "p99", "p99_99", "max"].iter().filter_map(|key| latency[key].as_i64()).collect();
        assert!(rising.is_sorted() && rising.iter().all(|&ns| ns >= 0), "{rising:?}");
        // With fewer samples these would be the maximum by another name.
        assert_eq!(
            (latency["p99"].is_null(), latency["p99_99"].is_null()),
            (samples < 100, samples < 10_000)
        );
    }
    for spike in list(&report["spikes"]) {
        match &spike["activation"] {
            Value::Null => {
                assert!(spike["not_explained"]["why"].is_string(), "neither explained nor with a reason")
            }
            activation => tiles(activation),
        }
    }
    report
}

#[test]
fn every_cpu_is_measured_and_the_worst_is_explained_or_has_a_reason() {
    let _one = one_at_a_time();
    let run = measure(&["--duration", "500ms", "--json"]);
    let report = report(&run);
    let cpus = list(&report["cpus"]);
    let expected = whylate_sys::getaffinity(whylate_base::Tid(0)).expect("affinity").len();
    assert_eq!(cpus.len(), expected);
    assert!(cpus.iter().all(|cpu| number(&cpu["samples"]) > 0), "{cpus:#?}");
    let spikes = list(&report["spikes"]);
    assert!(!spikes.is_empty());
    let max = cpus.iter().map(|cpu| number(&cpu["latency_ns"]["max"])).max().expect("a maximum");
    let worst = spikes.iter().map(|spike| number(&spike["latency_ns"])).max().expect("a spike");
    assert_eq!(worst, max, "the worst wake-up is among the spikes");
    assert!(number(&report["elapsed_ns"]) >= 500_000_000);
}

#[test]
fn a_measurement_goes_into_tables_once() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let (tables, file) = (path("tables"), path("run.json"));
    let run = measure(&["--duration", "300ms", "--no-trace", "--tables", &tables, "-o", &file]);
    assert!(matches!(run.code, Some(0 | 1 | 3)) && run.stderr.contains("tables: "), "{run:#?}");
    let again = whylate(["tables", &file, "-o", &tables]);
    assert!(again.code == Some(0) && again.stderr.contains("1 already there"), "{again:#?}");
    let compared = whylate(["compare", "--tables", &tables, "--by", "kernel"]);
    assert!(compared.stderr.contains("all measurements have the same kernel"), "{compared:#?}");
    // A directory that cannot be made is refused before anything is measured.
    let run = measure(&["--duration", "1h", "--tables", &format!("{file}/tables")]);
    assert!(run.code == Some(2) && run.stderr.contains("cannot write"), "{run:#?}");
}

#[test]
fn the_cpus_the_interval_and_the_priority_are_the_users_choice() {
    let _one = one_at_a_time();
    let cpu = whylate_sys::getaffinity(whylate_base::Tid(0)).expect("affinity").iter().last().expect("a CPU");
    let cpus = cpu.to_string();
    let options = ["-d", "300ms", "-c", &cpus, "-i", "5ms", "-p", "33", "--no-trace", "--json"];
    let report = report(&measure(&options));
    let [only] = list(&report["cpus"]) else { panic!("one CPU: {report:#}") };
    assert_eq!(number(&only["cpu"]), i64::from(cpu.0));
    assert_eq!(number(&report["probe"]["interval_ns"]), 5_000_000);
    assert_eq!(number(&report["probe"]["priority"]), 33);
    // No more than fit in; how many fewer is the machine's affair.
    assert!((1..=62).contains(&number(&only["samples"])), "{}", only["samples"]);
}

#[test]
fn the_text_and_the_page_tell_the_same() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("m.html");
    let run = measure(&["-d", "300ms", "-o", &page.to_string_lossy()]);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    let first = run.stdout.lines().next().unwrap_or_default();
    let worst = first.strip_prefix("The worst wake-up was ").and_then(|rest| rest.split(" late").next());
    let worst = worst.unwrap_or_else(|| panic!("{first}"));
    let page = std::fs::read_to_string(&page).expect("the page");
    assert!(page.contains(worst), "{worst} is in the page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "{}", run.stdout);
}

/// Ctrl-C ends the measurement, not the report.
#[test]
fn what_was_measured_until_a_signal_is_reported() {
    let _one = one_at_a_time();
    let mut command = command();
    command.args(["measure", "-d", "1h", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().expect("starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut first = String::new();
    stderr.read_line(&mut first).expect("its first line");
    assert!(first.starts_with("measuring for"), "{first}");
    // It measures a little first; where it is slow to begin, the report is short, and no less valid.
    std::thread::sleep(Duration::from_millis(700));
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::INT).expect("a signal");
    let report = report(&ended(child.wait_with_output().expect("ends")));
    let elapsed = number(&report["elapsed_ns"]);
    let longest = i64::try_from(started.elapsed().as_nanos()).expect("a time");
    assert!(0 < elapsed && elapsed <= longest, "{elapsed} of {longest} ns");
}

#[test]
fn without_any_rights_it_measures_and_reports_what_is_missing() {
    let _one = one_at_a_time();
    let Some(mut nobody) = as_nobody() else { return };
    let output = nobody.args(["measure", "-d", "300ms"]).output().expect("runs");
    let run = ended(output);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    for word in ["SCHED_OTHER", "CAP_SYS_NICE", "rtprio", "cannot explain"] {
        assert!(run.stdout.contains(word), "`{word}` is not in: {}", run.stdout);
    }
}

#[test]
fn what_cannot_be_measured_is_reported() {
    for (options, word) in [
        (&["-c", "8000"][..], "8000"),
        (&["-c", "3-1"], "3-1"),
        (&["-p", "0"], "1..=99"),
        (&["-p", "100"], "1..=99"),
        (&["-i", "1ns", "-d", "100ms"], "interval"),
        (&["-d", "0s"], "more than zero"),
        (&["--threshold", "late"], "late"),
    ] {
        let run = measure(options);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{options:?}: {run:#?}");
        assert!(run.stderr.contains(word), "{options:?}: {run:#?}");
    }
}
