//! `whylate convert`: what it writes is read back by ourselves, and says the same.

use crate::support::answer::answer;
use crate::support::run::{command, ended, fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

fn convert(input: &Path, output: &Path, options: &[&str]) -> String {
    let arguments = [OsStr::new("convert"), input.as_os_str(), output.as_os_str()];
    let run = whylate(arguments.into_iter().chain(options.iter().map(OsStr::new)));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(run.stdout, "");
    run.stderr
}

/// Of each activation: thread, response and verdict.
fn explained(file: &Path) -> Vec<(Value, Value, Value, Value)> {
    let run = whylate([OsStr::new("explain"), OsStr::new("--json"), file.as_os_str()]);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    let document = answer(&run.stdout);
    let activations = document["activations"].as_array().expect("activations");
    assert!(!activations.is_empty());
    let of = |activation: &Value| {
        let verdict = &activation["verdict"];
        let [tid, response] = ["tid", "response_ns"].map(|key| activation[key].clone());
        (tid, response, verdict["cause"].clone(), verdict["by"].clone())
    };
    activations.iter().map(of).collect()
}

fn left_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("list");
    entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_format_tells_the_same_story() {
    let directory = tempfile::tempdir().expect("directory");
    let path = |name: &str| directory.path().join(name);
    for name in ["6.1-throttle.dat", "7.2-rt-higher.dat"] {
        let original = fixture(name);
        let expected = explained(&original);
        convert(&original, &path("copy.dat"), &[]);
        assert_eq!(explained(&path("copy.dat")), expected, "{name}");
        convert(&original, &path("text.txt"), &[]);
        let of_text = explained(&path("text.txt"));
        assert_eq!(of_text, expected, "{name}");
        // From text on, nothing is lost: a trace.dat with formats of our own, and text of that again.
        convert(&path("text.txt"), &path("encoded.dat"), &[]);
        assert_eq!(explained(&path("encoded.dat")), of_text, "{name}");
        convert(&path("text.txt"), &path("perfetto.pftrace"), &[]);
        // Perfetto has no name for the monotonic clock: due times are told from the timers, less exactly.
        let verdicts = |told: &[(Value, Value, Value, Value)]| -> Vec<(Value, Value, Value)> {
            told.iter().map(|(tid, _, cause, by)| (tid.clone(), cause.clone(), by.clone())).collect()
        };
        let of_perfetto = explained(&path("perfetto.pftrace"));
        assert_eq!(verdicts(&of_perfetto), verdicts(&of_text), "{name}");
        convert(&path("encoded.dat"), &path("again.txt"), &[]);
        assert_eq!(explained(&path("again.txt")), of_text, "{name}");
    }
}

#[test]
fn the_name_tells_the_format() {
    let directory = tempfile::tempdir().expect("directory");
    let input = fixture("6.1-higher.dat");
    for (name, options, begin) in [
        ("a.pftrace", &[][..], &b"\n"[..]),
        ("a.perfetto-trace", &[], b"\n"),
        ("a.dat", &[], b"\x17\x08\x44tracing7\0"),
        ("a.TXT", &[], b"# whylate: clock=mono "),
        ("a.jsonl", &[], b"{\""),
        ("a.other", &["--format", "jsonl"], b"{\""),
        ("b.dat", &["--format", "text", "--to", "+1ms"], b"# whylate: clock=mono "),
    ] {
        let output = directory.path().join(name);
        let said = convert(&input, &output, options);
        let bytes = std::fs::read(&output).expect("written");
        assert!(bytes.starts_with(begin) && said.contains(" events"), "{name}: {said}");
    }
    let none = directory.path().join("none");
    let run = whylate([OsStr::new("convert"), input.as_os_str(), none.as_os_str()]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--format"), "{run:#?}");
    if !cfg!(feature = "parquet") {
        let table = directory.path().join("a.parquet");
        let run = whylate([OsStr::new("convert"), input.as_os_str(), table.as_os_str()]);
        assert!(run.code == Some(2) && run.stderr.contains("--features parquet"), "{run:#?}");
    }
}

#[test]
fn a_cut_is_what_was_asked_for() {
    let directory = tempfile::tempdir().expect("directory");
    let input = fixture("6.1-higher.dat");
    let output = directory.path().join("a.jsonl");
    let said = convert(
        &input,
        &output,
        &[
            "--from",
            "5.5",
            "--to",
            "6.000000001",
            "--cpu",
            "0",
            "--task",
            "victim",
            "-e",
            "switch",
            "-e",
            "sys_entr",
        ],
    );
    assert!(said.contains("no event sys_entr"), "{said}");
    let text = std::fs::read_to_string(&output).expect("written");
    let events: Vec<Value> =
        text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(!events.is_empty());
    for event in &events {
        assert_eq!(event["event"], "sched_switch");
        assert!((5_500_000_000..=6_000_000_001).contains(&event["ts"].as_i64().expect("a time")), "{event}");
        let names = [&event["fields"]["prev_comm"], &event["fields"]["next_comm"]];
        assert!(names.into_iter().any(|name| name == "victim"), "{event}");
    }
}

#[test]
fn standard_input_and_output() {
    let directory = tempfile::tempdir().expect("directory");
    let text = directory.path().join("a.txt");
    convert(&fixture("6.1-higher.dat"), &text, &[]);
    let input = || Stdio::from(std::fs::File::open(&text).expect("opens"));
    let run = ended(command().args(["convert", "-", "-"]).stdin(input()).output().expect("starts"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(run.stdout.lines().count(), std::fs::read_to_string(&text).expect("text").lines().count());
    let perfetto = directory.path().join("a.pftrace");
    let mut command_ = command();
    let run = ended(command_.args(["convert", "-"]).arg(&perfetto).stdin(input()).output().expect("starts"));
    assert!(run.code == Some(0) && run.stderr.contains("activations explained"), "{run:#?}");
    let run = ended(
        command().args(["convert", "-", "-", "--format", "dat"]).stdin(input()).output().expect("starts"),
    );
    assert!(run.code == Some(2) && run.stderr.contains("name of a file"), "{run:#?}");
}

#[test]
fn nobody_has_to_read_to_the_end() {
    let mut child = command()
        .arg("convert")
        .arg(fixture("6.1-throttle.dat"))
        .args(["-", "--format", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let run = ended(child.wait_with_output().expect("ends"));
    assert!(run.code == Some(0) && run.stderr.is_empty(), "{run:#?}");
}

#[test]
fn a_failure_leaves_what_was_there() {
    let directory = tempfile::tempdir().expect("directory");
    let output = directory.path().join("a.dat");
    std::fs::write(&output, "before").expect("write");
    let nothing = directory.path().join("nothing.dat");
    let convert = |input: &Path, output: &Path| {
        let run = whylate([OsStr::new("convert"), input.as_os_str(), output.as_os_str()]);
        assert_eq!(run.code, Some(2), "{run:#?}");
        run.stderr
    };
    assert!(convert(&nothing, &output).contains("no such file"));
    assert_eq!(std::fs::read(&output).expect("read"), b"before");
    let input = fixture("6.1-higher.dat");
    for bad in [Path::new("/dev/null/a.dat"), &directory.path().join("none/a.dat")] {
        assert!(convert(&input, bad).contains("cannot write"));
    }
    std::fs::create_dir(directory.path().join("d.dat")).expect("directory");
    assert!(convert(&input, &directory.path().join("d.dat")).contains("is a directory"));
    let mut left = left_in(directory.path());
    left.sort();
    assert_eq!(left, ["a.dat", "d.dat"]);
}

/// A recording cannot be made again.
#[test]
fn the_trace_that_is_read_is_not_written_over() {
    let directory = tempfile::tempdir().expect("directory");
    let path = |name: &str| directory.path().join(name);
    let trace = path("a.dat");
    std::fs::copy(fixture("6.1-higher.dat"), &trace).expect("copy");
    let before = std::fs::read(&trace).expect("read");
    std::os::unix::fs::symlink("a.dat", path("link.txt")).expect("link");
    std::fs::hard_link(&trace, path("other.jsonl")).expect("link");
    for output in ["a.dat", "link.txt", "other.jsonl"].map(path) {
        let file = std::fs::File::open(&trace).expect("opens");
        let runs = [
            whylate([OsStr::new("convert"), trace.as_os_str(), output.as_os_str()]),
            whylate([OsStr::new("explain"), trace.as_os_str(), OsStr::new("-o"), output.as_os_str()]),
            ended(command().args(["convert", "-"]).arg(&output).stdin(file).output().expect("starts")),
        ];
        for run in runs {
            assert!(run.code == Some(2) && run.stdout.is_empty(), "{run:#?}");
            assert!(run.stderr.contains("it is the trace that is to be read"), "{run:#?}");
        }
        assert!(std::fs::read(&trace).expect("read") == before, "{}", output.display());
    }
    // As good as it looks: the name of another file with the same contents.
    convert(&trace, &path("b.dat"), &[]);
}

#[test]
fn an_output_without_events_is_told() {
    let directory = tempfile::tempdir().expect("directory");
    let output = directory.path().join("a.txt");
    let input = fixture("6.1-higher.dat");
    for (options, words) in [
        (["--task", "nosuch"], "it goes from 5.112324870 to 7.331"),
        (["--cpu", "7"], "1 CPUs"),
        (["--to", "0"], "it goes from 5.112324870,"),
        (["--from", "999999"], "it goes from 5.112324870 to 7.331"),
    ] {
        let said = convert(&input, &output, &options);
        assert!(said.contains("the output has no event") && said.contains(words), "{options:?}: {said}");
    }
    assert!(!convert(&input, &output, &["--to", "+1ms"]).contains("no event"));
    let arguments = |more: [&'static str; 4]| {
        let common = [OsStr::new("convert"), input.as_os_str(), output.as_os_str()];
        let run = whylate(common.into_iter().chain(more.map(OsStr::new)));
        assert_eq!(run.code, Some(2), "{run:#?}");
        run.stderr
    };
    assert!(arguments(["--from", "6", "--to", "5"]).contains("--to is before --from"));
    assert!(arguments(["--task", "", "--worst", "1"]).contains("--task"));
}

/// A latency tracer says in its header what it measured, and rtla says nothing else.
#[test]
fn what_is_no_event_is_told_to_be_left_out() {
    let directory = tempfile::tempdir().expect("directory");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../intake/tests/fixtures");
    for (name, words) in [
        ("wakeup_rt_6.12.txt", "wakeup_rt"),
        ("rtla_timerlat_irq_6.12.txt", "this has no events: rtla report"),
    ] {
        let said = convert(&fixtures.join(name), &directory.path().join("a.txt"), &[]);
        assert!(said.contains("is no event, and so not in the output") && said.contains(words), "{said}");
    }
    assert!(!convert(&fixture("6.1-higher.dat"), &directory.path().join("a.dat"), &[]).contains("note"));
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let directory = tempfile::tempdir().expect("directory");
    let mut child = command()
        .args(["convert", "-"])
        .arg(directory.path().join("a.txt"))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    // It waits for input that never comes.
    let deadline = Instant::now() + Duration::from_secs(60);
    while left_in(directory.path()).is_empty() {
        assert!(Instant::now() < deadline, "no file was begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    // While it is waited for, its input stays open.
    let input = child.stdin.take();
    interrupt(&child);
    let status = child.wait().expect("ends");
    drop(input);
    assert_eq!(status.code(), Some(130));
    assert_eq!(left_in(directory.path()), Vec::<String>::new());
}

fn interrupt(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
}
