//! `whylate explain` where no thread is chosen and none is real-time, and of a part of a trace.

use crate::support::answer::{answer, list, number};
use crate::support::run::{Run, command, ended, fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Two programs' threads and a thread of the kernel's, on CPU 1 from 10 s to 10.1 s: `worker` each 10 ms, the fourth time
/// 2 ms late, `shell` once, `kworker/1:0` once and 5 ms late.
fn fair_threads() -> String {
    let mut text = String::from("# tracer: nop\n#\n");
    let mut activation = |comm: &str, tid: u32, due_us: u32, late_us: u32| {
        let at = |us: u32| format!("{}.{us:06}", 10);
        let (due, runs, done) = (at(due_us), at(due_us + late_us), at(due_us + late_us + 100));
        text += &format!(
            "          <idle>-0     [001] d..2. {due}: sched_waking: comm={comm} pid={tid} prio=120 target_cpu=001\n\
             \x20         <idle>-0     [001] d..2. {due}: sched_wakeup: comm={comm} pid={tid} prio=120 target_cpu=001\n\
             \x20         <idle>-0     [001] d..2. {runs}: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 \
             prev_state=R ==> next_comm={comm} next_pid={tid} next_prio=120\n\
             \x20         {comm}-{tid}     [001] d..2. {done}: sched_switch: prev_comm={comm} prev_pid={tid} prev_prio=120 \
             prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n"
        );
    };
    for period in 0..10 {
        activation("worker", 40, period * 10_000, if period == 3 { 2_000 } else { 20 });
    }
    activation("shell", 41, 95_000, 50);
    activation("kworker/1:0", 42, 100_000, 5_000);
    text
}

fn written(directory: &Path) -> PathBuf {
    let path = directory.join("fair.txt");
    fs::write(&path, fair_threads()).expect("written");
    path
}

fn explain(file: &Path, options: &[&str]) -> Run {
    whylate([OsStr::new("explain"), file.as_os_str()].into_iter().chain(options.iter().map(OsStr::new)))
}

fn comms(threads: &Value) -> Vec<&str> {
    list(threads).iter().map(|thread| thread["comm"].as_str().expect("a name")).collect()
}

#[test]
fn without_a_real_time_thread_the_candidates_are_named_and_the_worst_explained() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path());
    let json = explain(&file, &["--json"]);
    assert_eq!((json.code, json.stderr.as_str()), (Some(3), ""), "{json:#?}");
    let answer = answer(&json.stdout);
    let candidates = &answer["candidates"];
    assert_eq!(comms(&candidates["threads"]), ["worker", "shell", "kworker/1:0"]);
    assert_eq!(candidates["why"], "No thread of this trace has a real-time policy.");
    let first = &candidates["threads"][0];
    assert_eq!((number(&first["activations"]), number(&first["max_latency_ns"])), (10, 2_000_000));
    assert_eq!(comms(&answer["tasks"]), ["worker", "shell"]);
    for (format, words) in [("text", "> "), ("html", "<!DOCTYPE"), ("markdown", "## Candidates")] {
        let run = explain(&file, &["--format", format]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(3), ""), "{run:#?}");
        let policy = "No thread of this trace has a real-time policy";
        for word in [words, policy, "--task", "worker", "kworker/1:0"] {
            assert!(run.stdout.contains(word), "{format}: {word}: {}", run.stdout);
        }
    }
    // With a choice it is an answer like any other.
    let chosen = explain(&file, &["--task", "worker"]);
    assert_eq!(chosen.code, Some(0), "{chosen:#?}");
    assert!(!chosen.stdout.contains("candidate"), "{}", chosen.stdout);
}

#[test]
fn a_finding_counts_and_a_deadline_is_of_chosen_threads() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path());
    assert_eq!(explain(&file, &["--deadline", "1us"]).code, Some(3));
    assert_eq!(explain(&file, &["--deadline", "1us", "--task", "worker"]).code, Some(1));
}

/// What comes through a pipe is text, and a reader that has enough closes the pipe.
#[test]
fn standard_input_is_explained_as_a_file_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path());
    let piped = |format: &str| {
        let mut cat = command();
        cat.args(["explain", "-", "--format", format]);
        let mut child = cat
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        std::io::copy(&mut fs::File::open(&file).expect("opens"), child.stdin.as_mut().expect("piped"))
            .expect("written");
        ended(child.wait_with_output().expect("it ends"))
    };
    for format in ["text", "json"] {
        let (from_pipe, from_file) = (piped(format), explain(&file, &["--format", format]));
        assert_eq!((from_pipe.code, from_pipe.stdout), (from_file.code, from_file.stdout));
    }
}

#[test]
fn a_part_of_a_trace_is_reported_and_known_from_its_beginning() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path());
    let of = |options: &[&str]| {
        let options: Vec<&str> = ["--task", "worker", "--json"].iter().chain(options).copied().collect();
        let run = explain(&file, &options);
        assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
        let answer = answer(&run.stdout);
        (number(&answer["tasks"][0]["activations"]), answer["scope"].clone())
    };
    assert_eq!(of(&[]), (10, Value::Null));
    let (activations, scope) = of(&["--from", "+15ms", "--to", "10.045", "--cpu", "0-1"]);
    assert_eq!(activations, 3);
    assert_eq!((&scope["from_ns"], &scope["cpus"]), (&10_015_000_000_i64.into(), &"0-1".into()));
    assert_eq!(of(&["--from", "10.030500", "--to", "10.031"]).0, 1, "in the middle of one");
    let text = explain(&file, &["--task", "worker", "--from", "+15ms"]);
    assert!(text.stdout.contains("from 10.015000 on"), "{}", text.stdout);
    // A real recording: the throttled second activation is not in the part before it.
    let whole = answer(&explain(&fixture("6.1-throttle.dat"), &["--json"]).stdout);
    let start = number(&whole["trace"]["start_ns"]);
    let first =
        list(&whole["findings"]).iter().find(|finding| finding["code"] == "rt-throttled").expect("a finding");
    let before = (number(&first["evidence"][0]["at_ns"]) - start) / 1_000 - 1_000;
    let early =
        answer(&explain(&fixture("6.1-throttle.dat"), &["--json", "--to", &format!("+{before}us")]).stdout);
    assert!(
        list(&early["findings"]).iter().all(|finding| finding["code"] != "rt-throttled"),
        "{:#}",
        early["findings"]
    );
}

#[test]
fn a_part_outside_the_trace_is_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path());
    for (options, words) in [
        (
            &["--from", "11"][..],
            "--from is after the end of the trace, which goes from 10.000000000 to 10.105100000",
        ),
        (&["--to", "9"], "--to is before the start of the trace"),
        (&["--cpu", "7"], "--cpu 7: the trace has no event of these CPUs, only of CPUs 1"),
        (&["--from", "10.05", "--to", "10.01"], "--to is before --from"),
        (&["--from", "yesterday"], "`yesterday` is not an instant"),
        (&["--cpu", "x"], "--cpu"),
    ] {
        let run = explain(&file, options);
        assert_eq!(run.code, Some(2), "{options:?}: {run:#?}");
        assert!(run.stderr.contains(words), "{options:?}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    // A part in which the chosen thread was not active is no error, and no good news.
    let run = explain(&file, &["--task", "shell", "--to", "+10ms"]);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stderr.contains("no thread called shell was active in the part"), "{}", run.stderr);
}
