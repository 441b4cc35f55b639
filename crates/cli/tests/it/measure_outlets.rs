//! `whylate measure`: its results in files, over HTTP and on a terminal.

use crate::support::answer::{list, number};
use crate::support::run::{command, ended, whylate};
use crate::support::tracefs::one_at_a_time;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use whylate_testing::Need;

#[test]
fn every_file_has_the_same_samples_as_the_report() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let mut arguments: Vec<String> =
        ["measure", "-d", "300ms", "--no-trace", "--json"].map(str::to_owned).to_vec();
    let names = ["a.hist", "a.cyclictest.json", "a.csv", "a.prom", "a.json"];
    for name in names {
        arguments.extend(["--export".to_owned(), path(name).to_string_lossy().into_owned()]);
    }
    let run = whylate(arguments);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let samples: i64 = list(&report["cpus"]).iter().map(|cpu| number(&cpu["samples"])).sum();
    assert!(samples > 0);

    for name in ["a.hist", "a.cyclictest.json"] {
        let back = whylate_intake::latencies::open(&path(name)).expect("it is read back");
        assert_eq!(back.all().count(), samples as u64, "{name}");
    }
    let text = |name: &str| std::fs::read_to_string(path(name)).expect("the file");
    let counts = |text: String, of: &dyn Fn(&str) -> Option<i64>| text.lines().filter_map(of).sum::<i64>();
    let last = |line: &str, by| line.rsplit_once(by).and_then(|(_, count)| count.parse::<i64>().ok());
    assert_eq!(counts(text("a.csv"), &|line| last(line, ',')), samples);
    let infinite = |line: &str| line.contains("le=\"+Inf\"").then(|| last(line, ' ')).flatten();
    assert_eq!(counts(text("a.prom"), &infinite), samples);
    assert_eq!(serde_json::from_str::<Value>(&text("a.json")).expect("JSON"), report);
}

/// A published command line of cyclictest, for a shorter time.
#[test]
fn the_histogram_of_cyclictest_goes_to_its_file() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("cyclictest.log");
    let histfile = format!("--histfile={}", path.display());
    let line =
        "measure --mlockall --smp --priority=80 --interval=200 --distance=0 -D 1s -H 400 --no-trace -q";
    let run = whylate(line.split(' ').chain([histfile.as_str()]));
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    assert!(!run.stdout.contains("# Histogram") && run.stderr.contains("cyclictest.log"), "{run:#?}");
    let text = std::fs::read_to_string(&path).expect("the histogram");
    assert!(text.contains("# Histogram\n") && text.contains("# Histogram Overflows:"), "{text}");
    assert!(whylate_intake::latencies::open(&path).expect("it is read back").all().count() > 0);

    let run = whylate(["measure", "-D", "1s", histfile.as_str()]);
    assert!(run.code == Some(2) && run.stderr.contains("-h N or -H N"), "{run:#?}");
    let run = whylate(["measure", "-D", "1s", "-h", "9", "--histfile=/nowhere/at/all"]);
    assert!(run.code == Some(2) && run.stderr.contains("/nowhere/at/all"), "{run:#?}");
}

/// What was measured cannot be measured again: a full disk costs that output alone.
#[test]
fn a_full_disk_does_not_cost_the_measurement() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    // A link, as the suffix selects the format.
    std::os::unix::fs::symlink("/dev/full", path("full.csv")).expect("a link");
    let mut arguments =
        ["measure", "-d", "100ms", "--no-trace", "--json", "-o", "/dev/full"].map(str::to_owned).to_vec();
    for name in ["full.csv", "a.csv"] {
        arguments.extend(["--export".to_owned(), path(name)]);
    }
    let run = whylate(arguments);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("/dev/full") && run.stderr.contains("full.csv"), "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(!list(&report["cpus"]).is_empty());
    assert!(!std::fs::read_to_string(path("a.csv")).expect("the other file").is_empty());
}

#[test]
fn a_file_of_no_form_or_in_no_directory_is_refused() {
    for (file, words) in [("a.txt", ".cyclictest.json"), ("-", "standard output")] {
        let run = whylate(["measure", "-d", "1h", "--export", file]);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    for (file, words) in
        [("a.sarif", ".txt, .json, .html, .md, .svg"), ("/no/such/directory/a.html", "/no/such/directory")]
    {
        let run = whylate(["measure", "-d", "1h", "-o", file]);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    let run = whylate(["measure", "-d", "1h", "--export", "/no/such/directory/a.csv"]);
    assert_eq!(run.code, Some(2), "before anything is measured: {run:#?}");
    assert!(run.stderr.contains("/no/such/directory"), "{}", run.stderr);
}

#[test]
fn it_is_served_until_it_ends() {
    let _one = one_at_a_time();
    let mut command = command();
    command.args(["measure", "-d", "1h", "--no-trace", "--live", "--serve", "0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = || {
        let mut line = String::new();
        stderr.read_line(&mut line).expect("its first line");
        line
    };
    let first = line();
    let address =
        first.trim_end().strip_prefix("metrics: http://").and_then(|rest| rest.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{first}")).to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    assert!(line().contains("no terminal"), "the live view needs one");
    assert!(line().starts_with("measuring for"));

    let mut stream = TcpStream::connect(&address).expect("it listens");
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("# EOF\n"), "{answer}");

    let again = whylate(["measure", "-d", "1h", "--serve", &address]);
    assert_eq!(again.code, Some(2), "the port is taken: {again:#?}");
    assert!(again.stderr.contains(&address), "{}", again.stderr);

    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::INT).expect("a signal");
    let run = ended(child.wait_with_output().expect("ends"));
    assert!(!run.stdout.contains("\x1b["), "no terminal, no colours");
    assert!(TcpStream::connect(&address).is_err(), "the server still listens");
}

/// What a terminal is sent, by script(1), which has one; none where it is missing.
fn on_a_terminal(options: &str) -> Option<String> {
    let command = format!("{} measure --live --no-trace {options}", env!("CARGO_BIN_EXE_whylate"));
    let script = Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output();
    match script {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            whylate_testing::skip(Need::Program, format_args!("script: {error}"));
            None
        }
    }
}

#[test]
fn the_terminal_is_as_it_was_after_the_live_view() {
    let _one = one_at_a_time();
    for (options, last_word) in [("-d 300ms", "The worst wake-up"), ("-d 1h -c 8000", "8000")] {
        let Some(sent) = on_a_terminal(options) else { return };
        let (before, shown) = sent.split_once("\x1b[?1049h").unwrap_or_else(|| panic!("{sent:?}"));
        let (shown, after) = shown.split_once("\x1b[?1049l").unwrap_or_else(|| panic!("{sent:?}"));
        assert!(!before.contains('\x1b'), "{before:?}");
        assert!(
            shown.contains("\x1b[?25l") && shown.ends_with("\x1b[?25h"),
            "the cursor is seen again: {shown:?}"
        );
        assert!(after.contains(last_word) && !after.contains("\x1b[?"), "{after:?}");
    }
}
