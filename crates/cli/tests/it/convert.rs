//! `whylate convert`: its output is read back, and has the same events.

use crate::support::answer::answer;
use crate::support::run::{Run, as_nobody, command, ended, fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
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
fn every_format_has_the_same_explanation() {
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
        assert_eq!(explained(&path("perfetto.pftrace")), of_text, "{name}");
        convert(&path("encoded.dat"), &path("again.txt"), &[]);
        assert_eq!(explained(&path("again.txt")), of_text, "{name}");
    }
}

#[test]
fn the_ending_selects_the_format() {
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
        let summary = convert(&input, &output, options);
        let bytes = std::fs::read(&output).expect("written");
        assert!(bytes.starts_with(begin) && summary.contains(" events"), "{name}: {summary}");
    }
    let none = directory.path().join("none");
    let run = whylate([OsStr::new("convert"), input.as_os_str(), none.as_os_str()]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("--format"), "{run:#?}");
}

#[test]
fn a_cut_is_what_was_asked_for() {
    let directory = tempfile::tempdir().expect("directory");
    let input = fixture("6.1-higher.dat");
    let output = directory.path().join("a.jsonl");
    let summary = convert(
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
    assert!(summary.contains("no event sys_entr"), "{summary}");
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

/// A recorder notes them once, when it starts.
#[test]
fn a_cut_has_what_is_known_of_the_machine() {
    let directory = tempfile::tempdir().expect("directory");
    let [text, whole] = ["whole.txt", "whole.dat"].map(|name| directory.path().join(name));
    convert(&fixture("6.1-higher.dat"), &text, &[]);
    let fact =
        |fact: &str| format!("whylate-9 [000] ....1 5.112000000: tracing_mark_write: whylate: {fact}\n");
    let facts = fact("hypervisor 1") + &fact("policy 100 fifo 50 victim");
    std::fs::write(&text, facts + &std::fs::read_to_string(&text).expect("written")).expect("written");
    convert(&text, &whole, &[]);
    let later = ["--from", "5.5"];
    for (input, name, options) in [
        (&whole, "a.dat", &later[..]),
        (&whole, "a.txt", &later),
        (&text, "b.dat", &later),
        (&whole, "c.dat", &["--from", "5.5", "--task", "victim"]),
        (&whole, "d.jsonl", &["--from", "5.5", "-e", "switch"]),
    ] {
        let cut = directory.path().join(name);
        convert(input, &cut, options);
        let lines = directory.path().join("lines.jsonl");
        let lines = if name == "d.jsonl" {
            cut
        } else {
            convert(&cut, &lines, &[]);
            lines
        };
        let events = std::fs::read_to_string(&lines).expect("written");
        assert_eq!(events.contains("whylate: hypervisor 1"), name != "d.jsonl", "{name}");
        // What a thread was at the start may no longer be so.
        assert!(!events.contains("whylate: policy"), "{name}");
        let first = events.lines().nth(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        assert!(first.expect("an event")["ts"].as_i64() >= Some(5_500_000_000), "{name}");
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

/// What is replaced keeps its permissions, and what must not be written is not replaced either.
#[test]
fn permissions_are_those_of_what_was_there() {
    let directory = tempfile::tempdir().expect("directory");
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
    };
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o7777;
    set(directory.path(), 0o777);
    let input = fixture("6.1-higher.dat");
    // Of all three ways of writing a file.
    for name in ["a.dat", "a.txt", "a.html"] {
        let output = directory.path().join(name);
        let arguments = match name {
            "a.html" => [OsStr::new("explain"), OsStr::new("-o"), output.as_os_str(), input.as_os_str()],
            _ => [OsStr::new("convert"), OsStr::new("--cpu=0"), input.as_os_str(), output.as_os_str()],
        };
        let good = |run: &Run| matches!(run.code, Some(0 | 1));
        let run = whylate(arguments);
        assert!(good(&run), "{run:#?}");
        // Whatever the umask is, one of them is not what it makes.
        for kept in [0o600, 0o646] {
            set(&output, kept);
            let run = whylate(arguments);
            assert!(good(&run), "{run:#?}");
            assert_eq!(mode(&output), kept, "{name}");
        }
        std::fs::write(&output, "before").expect("write");
        set(&output, 0o444);
        let Some(mut nobody) = as_nobody() else { continue };
        let run = ended(nobody.args(arguments).output().expect("starts"));
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains("is read-only (mode 0444); give another name"), "{run:#?}");
        assert_eq!((std::fs::read(&output).expect("read"), mode(&output)), (b"before".to_vec(), 0o444));
    }
}

/// More CPUs than files may be open at first.
#[test]
fn many_cpus_are_not_too_many() {
    let directory = tempfile::tempdir().expect("directory");
    let (input, output) = (directory.path().join("in.txt"), directory.path().join("out.dat"));
    let line = |cpu| format!("a-1 [{cpu:03}] 1.5: irq_handler_exit: irq=3 ret=handled\n");
    std::fs::write(&input, (0..200).map(line).collect::<String>()).expect("written");
    let script = "ulimit -S -n 64; exec \"$0\" convert \"$1\" \"$2\"";
    let mut shell = Command::new("sh");
    let run = shell.args(["-c", script, env!("CARGO_BIN_EXE_whylate")]).args([&input, &output]).output();
    let run = ended(run.expect("starts"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains("200 events"), "{run:#?}");
}

/// A limit on the size of files (RLIMIT_FSIZE) is an error as a full disk is: the old file stays, and no part of the new one.
#[test]
fn a_file_that_may_not_grow_is_an_error_with_its_reason() {
    let directory = tempfile::tempdir().expect("directory");
    let output = directory.path().join("out.txt");
    std::fs::write(&output, "before").expect("written");
    let script = "ulimit -f 8; exec \"$0\" convert \"$1\" \"$2\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_whylate")]).args([&fixture("6.1-higher.dat"), &output]);
    let run = ended(shell.output().expect("starts"));
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("File too large"), "{run:#?}");
    assert_eq!(std::fs::read_to_string(&output).expect("read"), "before");
    assert_eq!(std::fs::read_dir(directory.path()).expect("read").count(), 1);
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
fn an_output_without_events_is_reported() {
    let directory = tempfile::tempdir().expect("directory");
    let output = directory.path().join("a.txt");
    let input = fixture("6.1-higher.dat");
    for (options, words) in [
        (["--task", "nosuch"], "it goes from 5.112324870 to 7.331"),
        (["--cpu", "7"], "1 CPUs"),
        (["--to", "0"], "it goes from 5.112324870,"),
        (["--from", "999999"], "it goes from 5.112324870 to 7.331"),
    ] {
        let summary = convert(&input, &output, &options);
        assert!(
            summary.contains("the output has no event") && summary.contains(words),
            "{options:?}: {summary}"
        );
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

/// A latency tracer has what it measured in its header, and rtla prints nothing else.
#[test]
fn what_is_no_event_is_reported_as_left_out() {
    let directory = tempfile::tempdir().expect("directory");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../intake/tests/fixtures");
    for (name, output, words) in [
        ("wakeup_rt_6.12.txt", "a.dat", "wakeup_rt"),
        ("wakeup_rt_6.12.txt", "a.jsonl", "wakeup_rt"),
        ("rtla_timerlat_irq_6.12.txt", "a.txt", "this has no events: rtla report"),
    ] {
        let summary = convert(&fixtures.join(name), &directory.path().join(output), &[]);
        assert!(
            summary.contains("is no event, and so not in the output") && summary.contains(words),
            "{summary}"
        );
    }
    assert!(!convert(&fixture("6.1-higher.dat"), &directory.path().join("a.dat"), &[]).contains("note"));
}

/// Text keeps what a latency tracer measured: all of its account, and so all of the explanation.
#[test]
fn a_latency_trace_stays_one_as_text() {
    let directory = tempfile::tempdir().expect("directory");
    let intake = Path::new(env!("CARGO_MANIFEST_DIR")).join("../intake/tests/fixtures");
    let section = directory.path().join("irqsoff.txt");
    std::fs::write(&section, IRQSOFF).expect("written");
    let explained = |file: &Path| -> Value {
        let run = whylate([OsStr::new("explain"), OsStr::new("--json"), file.as_os_str()]);
        assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
        let mut document = answer(&run.stdout);
        // What lay between the lines of an excerpt is left behind.
        for key in ["damage", "quality"] {
            document["trace"][key].take();
        }
        document
    };
    for original in [intake.join("wakeup_rt_6.12.txt"), intake.join("wakeup_rt_excerpt.txt"), section] {
        let (once, twice) = (directory.path().join("once.txt"), directory.path().join("twice.txt"));
        let summary = convert(&original, &once, &[]);
        assert!(!summary.contains("is no event"), "{summary}");
        assert_eq!(explained(&once), explained(&original), "{}", original.display());
        convert(&once, &twice, &[]);
        let read = |path: &Path| std::fs::read_to_string(path).expect("text");
        assert_eq!(read(&twice), read(&once));
    }
}

const IRQSOFF: &str = "\
# tracer: irqsoff
#
# irqsoff latency trace v1.1.5 on 6.12.0-rt
# --------------------------------------------------------------------
# latency: 16 us, #4/4, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
#    -----------------
#    | task: swapper/0-0 (uid:0 nice:0 policy:0 rt_prio:0)
#    -----------------
#  => started at: run_timer_softirq
#  => ended at:   run_timer_softirq
#
  <idle>-0         0d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq
  <idle>-0         0dNs3   17us : _raw_spin_unlock_irq <-run_timer_softirq
  <idle>-0         0dNs3   17us+: trace_hardirqs_on <-run_timer_softirq
  <idle>-0         0dNs3   25us : <stack trace>
 => _raw_spin_unlock_irq
 => run_timer_softirq
";

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
