//! `whylate bench` on this machine, with whatever rights the tests have. No test asserts a duration.

use crate::support::run::{Run, as_nobody, command, ended, whylate};
use crate::support::tracefs::one_at_a_time;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use whylate_testing::{Need, skip};

const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
const JOURNAL: &str = "/run/whylate-clocksource";

fn source() -> String {
    std::fs::read_to_string(CURRENT).map(|text| text.trim().to_owned()).unwrap_or_default()
}

fn document(run: &Run) -> Value {
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// What holds for every row, whatever it took.
fn check_rows(document: &Value) {
    let rows = document["rows"].as_array().expect("rows");
    assert!(!rows.is_empty());
    for row in rows {
        let per = &row["ns_per_op"];
        let (p50, max) = (per["p50"].as_f64().expect("a median"), per["max"].as_f64().expect("a maximum"));
        assert!(p50 >= 0.0 && max >= 0.0, "{row:#}");
        let counts = row["histogram"].as_array().expect("buckets").iter();
        let counted: u64 = counts.filter_map(|bucket| bucket["count"].as_u64()).sum();
        assert_eq!(Some(counted), row["samples"].as_u64(), "{}", row["name"]);
        assert!(!row["round_medians"].as_array().expect("medians").is_empty(), "{}", row["name"]);
    }
    let mut names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "each name once");
}

#[test]
fn clocks_are_measured_and_the_clock_source_is_as_before() {
    let _one = one_at_a_time();
    let before = source();
    let run = whylate(["bench", "clock", "-d", "1s", "--json"]);
    let document = document(&run);
    assert_eq!((&document["schema"], &document["kind"]), (&"whylate.bench/1".into(), &"clock".into()));
    check_rows(&document);
    let row = |name: &str| {
        let rows = document["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no row {name}")).clone()
    };
    for name in ["CLOCK_MONOTONIC", "CLOCK_MONOTONIC_COARSE", "CLOCK_REALTIME"] {
        assert!(row(name)["clock"]["readings"].as_u64() > Some(0), "{name}");
        assert!(row(name)["clock"]["resolution_claimed_ns"].as_i64() > Some(0), "{name}");
    }
    assert_eq!(row("CLOCK_MONOTONIC")["clock"]["steps_backwards"], 0);
    assert_ne!(row("CLOCK_THREAD_CPUTIME_ID")["clock"]["makes_system_call"], false);
    if !before.is_empty() {
        row(&format!("clock source {before}"));
    }
    assert_eq!((source(), Path::new(JOURNAL).exists()), (before, false));
}

fn names(document: &Value) -> Vec<String> {
    let rows = document["rows"].as_array().expect("rows").iter();
    rows.filter_map(|row| row["name"].as_str()).map(str::to_owned).collect()
}

#[test]
fn messages_are_sent_by_each_means_and_no_namespace_stays() {
    let _one = one_at_a_time();
    let run = whylate(["bench", "socket", "-d", "2s", "--json"]);
    let document = document(&run);
    check_rows(&document);
    let names = names(&document);
    for means in ["TCP", "TCP_NODELAY", "TCP_CORK", "TCP, one writev", "TCP_CORK, write and sendfile"] {
        assert!(names.contains(&format!("loopback: {means}")), "{names:?}");
    }
    assert!(names.iter().any(|name| name.starts_with("unix: ")), "{names:?}");
    let rows = document["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["sending_ns"]["p50"].as_f64() > Some(0.0)));
    // With the right for it there is a pair of namespaces; otherwise the reason why there is none.
    let skipped = document["skipped"].as_array().expect("a list").iter();
    let is_skipped = skipped.clone().any(|row| row["name"] == "namespaces");
    assert_ne!(names.iter().any(|name| name.starts_with("namespaces: ")), is_skipped, "{skipped:?}");
    let published: Vec<i64> = document["published"]
        .as_array()
        .expect("figures")
        .iter()
        .filter_map(|time| time["published_ns"].as_i64())
        .collect();
    assert_eq!(published, [400_130_000_000, 1_650_000_000, 851_000_000]);
    let devices = std::fs::read_to_string("/proc/net/dev").expect("devices");
    assert!(!devices.contains("bench0") && !devices.contains("bench1"), "{devices}");
}

#[test]
fn a_server_of_another_process_answers() {
    use std::io::{BufRead, BufReader};
    let _one = one_at_a_time();
    let mut server = command()
        .args(["bench", "socket", "--server", "127.0.0.1:0"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    BufReader::new(server.stderr.take().expect("standard error")).read_line(&mut line).expect("a line");
    let address = line.split_whitespace().find(|word| word.starts_with("127.0.0.1:")).expect("its address");
    let run = whylate(["bench", "socket", "--connect", address, "-d", "1s", "--json"]);
    let pid = i32::try_from(server.id()).ok().and_then(rustix::process::Pid::from_raw).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("SIGINT");
    assert_eq!(server.wait().expect("its end").code(), Some(0));
    let document = document(&run);
    check_rows(&document);
    assert!(names(&document).iter().all(|name| name.starts_with("peer: ")), "{document:#}");
}

#[test]
fn memory_and_threads_are_measured() {
    let _one = one_at_a_time();
    for (kind, expected) in [
        ("memory", &["first write", "write, prefaulted (MAP_POPULATE)", "brk: grow, write, shrink"][..]),
        ("thread", &["system call (getppid)", "pipe, one CPU", "PI mutex, uncontended"]),
    ] {
        let run = whylate(["bench", kind, "-d", "1s", "--json"]);
        let document = document(&run);
        check_rows(&document);
        let names = names(&document);
        for name in expected {
            assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
        }
    }
}

#[test]
fn two_benches_of_one_kind_are_compared() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (before, after, other) = (path("before.json"), path("after.json"), path("other.json"));
    for (kind, file) in [("thread", &before), ("thread", &after), ("memory", &other)] {
        let run = whylate(["bench", kind, "-d", "500ms", "-o", file]);
        assert_eq!(run.code, Some(0), "{run:#?}");
    }
    let run = whylate(["compare", &before, &after, "--json"]);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    let compared: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(compared["schema"], "whylate.bench-compare/1");
    assert!(!compared["rows"].as_array().expect("rows").is_empty());
    let same = whylate(["compare", &before, &before]);
    assert!(same.code == Some(0) && same.stdout.contains("0 are slower and 0 faster"), "{same:#?}");
    for (arguments, words) in [
        (&["compare", &before, &other][..], "a bench of thread is not compared with one of memory"),
        (&["compare", &before, &after, &other], "two at a time"),
        (&["compare", &before, &after, "--gate", "max<1ms"], "--gate"),
        (&["compare", &before, &after, "--format", "html"], "no format html"),
        (&["compare", &before, "/dev/null"], "no document of whylate bench"),
    ] {
        let run = whylate(arguments);
        assert!(run.code == Some(2) && run.stderr.contains(words), "{arguments:?}: {run:#?}");
    }
}

#[test]
fn a_killed_bench_is_undone_by_the_next() {
    let _one = one_at_a_time();
    let before = source();
    let available = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
    let several = available.split_ascii_whitespace().count() > 1;
    if !several || std::fs::write(CURRENT, &before).is_err() {
        return skip(Need::Root, "needs root and two clock sources");
    }
    let mut bench = command().args(["bench", "clock", "-d", "60s"]).spawn().expect("the program starts");
    let until = Instant::now() + Duration::from_secs(120);
    while source() == before && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    let changed = source();
    bench.kill().expect("SIGKILL");
    bench.wait().expect("its end");
    assert_ne!(changed, before, "the bench never changed the clock source");
    assert!(Path::new(JOURNAL).exists());
    let run = whylate(["bench", "clock", "-d", "200ms"]);
    assert!(run.stderr.contains(&format!("restored {before}")), "{run:#?}");
    assert_eq!((source(), Path::new(JOURNAL).exists()), (before, false));
}

#[test]
fn a_signal_keeps_what_was_measured_and_restores_the_clock_source() {
    use rustix::process::{Pid, Signal, kill_process};
    let _one = one_at_a_time();
    let before = source();
    let bench = command()
        .args(["bench", "clock", "-d", "60s", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::thread::sleep(Duration::from_secs(3));
    let pid = i32::try_from(bench.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::INT).expect("SIGINT");
    let run = ended(bench.wait_with_output().expect("its end"));
    // On a busy machine it may not have measured anything yet.
    assert!(matches!(run.code, Some(0 | 1 | 3)), "{run:#?}");
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(document["interrupted"], true);
    assert_eq!((source(), Path::new(JOURNAL).exists()), (before, false));
}

#[test]
fn without_root_what_needs_it_is_skipped_with_the_reason() {
    let _one = one_at_a_time();
    let before = source();
    let Some(mut nobody) = as_nobody() else { return };
    let run = ended(nobody.args(["bench", "clock", "-d", "500ms", "--json"]).output().expect("it starts"));
    let document = document(&run);
    check_rows(&document);
    let available = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
    let others = available.split_ascii_whitespace().filter(|name| *name != before);
    for other in others {
        let skipped = document["skipped"].as_array().expect("a list").iter();
        let reasons: Vec<&str> = skipped
            .filter(|row| row["name"].as_str().is_some_and(|name| name.ends_with(other)))
            .filter_map(|row| row["reason"].as_str())
            .collect();
        assert!(reasons.iter().any(|reason| reason.contains("needs root")), "{other}: {reasons:?}");
    }
    assert_eq!(source(), before);
}

#[test]
fn wrong_input_is_refused() {
    for (arguments, words) in [
        (&["bench"][..], "<KIND>"),
        (&["bench", "moon"], "possible values: clock, socket, memory, thread"),
        (&["bench", "clock", "-d", "61s"], "must be 60.000 s or less"),
        (&["bench", "clock", "-d", "1ms"], "must be 100.0 ms or more"),
        (&["bench", "clock", "-c", "8191"], "8191"),
        (&["bench", "clock", "--connect", "127.0.0.1"], "--connect is an option of"),
        (&["bench", "socket", "--connect", "127.0.0.1:1", "-d", "1s"], "connect to 127.0.0.1:1"),
        (&["bench", "socket", "--connect", "no such host"], "--connect"),
        (&["bench", "socket", "--server", "moon"], "give a port"),
        (&["bench", "socket", "--server", "9", "--json"], "cannot be used with"),
        (&["bench", "clock", "-o", "/nowhere/x.json"], "/nowhere"),
        (&["bench", "clock", "-o", "x.pdf"], "suffix"),
    ] {
        let run = whylate(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:#?}");
        assert!(run.stderr.contains(words), "{arguments:?}: {run:#?}");
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}
