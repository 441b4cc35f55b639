//! Whatever `whylate explain` is given, it reports what is wrong and what to do, or gives the part
//! that could be read. It never panics (`support::run` looks).

use crate::support::answer::{answer, list, number};
use crate::support::run::{Run, as_nobody, command, ended, fixture, whylate};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;
use whylate_testing::Need;

fn explain(file: &Path) -> Run {
    whylate([OsStr::new("explain"), file.as_os_str()])
}

/// A file with these contents in a directory of its own.
fn file_of(name: &str, contents: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(name);
    fs::write(&path, contents).expect("a file");
    (directory, path)
}

/// It could not be done: exit code 2, nothing on standard output, and one message that has all
/// of `words`.
fn refused(run: &Run, words: &[&str]) {
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
    for word in words {
        assert!(run.stderr.contains(word), "`{word}` is not in: {}", run.stderr);
    }
}

#[test]
fn files_that_are_no_traces() {
    let garbage: Vec<u8> = (0..40_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let text = b"Dear all,\nthe meeting is moved to Monday.\nRegards\n".repeat(20);
    let only_magic = b"\x17\x08\x44tracing".to_vec();
    let unknown_version = b"\x17\x08\x44tracing99\0".to_vec();
    let zeros = vec![0u8; 10_000];
    let table: [(&str, &[u8]); 6] = [
        ("empty.dat", b""),
        ("letter.txt", &text),
        ("garbage.bin", &garbage),
        ("magic.dat", &only_magic),
        ("future.dat", &unknown_version),
        ("zeros.dat", &zeros),
    ];
    for (name, contents) in table {
        let (_directory, path) = file_of(name, contents);
        refused(&explain(&path), &["whylate: ", &path.to_string_lossy()]);
    }
}

#[test]
fn a_measurement_that_was_cut_passes_no_gate_and_is_no_trace() {
    let oslat = b"oslat V 2.60\n        Core:\t 1 2\n    001 (us):\t 500 600\n    002 (us):\t 3 4\n";
    let xenomai = b"RTT|  00:00:01  (periodic user-mode task, 100 us period, priority 99)\n\
        RTD|      1.615|      1.923|      9.846|       0|     0|      1.615|      9.846\n";
    let stress_ng = b"stress-ng: info:  [9] cyclic: sched SCHED_FIFO: 100000 ns delay, 10000 samples\n";
    let sysjitter = b"core_i: 0 1\nthreshold(ns): 200 200\nint_n: 10001 10130\nint_min(ns): 1333 1247\n";
    let table: [(&[u8], &str); 4] = [
        (oslat, "oslat wrote it, but its table was cut"),
        (xenomai, "Xenomai latency wrote it, but its output was cut"),
        (stress_ng, "stress-ng wrote it, but its table was cut"),
        (sysjitter, "sysjitter wrote it, but its table was cut"),
    ];
    for (text, why) in table {
        let (_directory, path) = file_of("cut.txt", text);
        let gate = ["--gate", "max<100us"].map(OsStr::new);
        let compared = whylate([OsStr::new("compare"), path.as_os_str(), gate[0], gate[1]]);
        refused(&compared, &[why]);
        refused(&explain(&path), &[why, "a measurement, not a trace", "whylate compare"]);
    }
}

#[test]
fn a_measurement_of_another_program_is_no_trace() {
    let end = "RTS|      1.175|      2.955|     87.379|      40|     0|    00:01:00/00:01:00\n";
    let (_directory, path) = file_of("latency.txt", end.as_bytes());
    refused(
        &explain(&path),
        &[
            "it is a measurement (Xenomai latency, timer), not a trace",
            "Known of it: 59 samples, the longest latency is 87.38 us, mean 2.96 us; ",
            "whylate compare",
        ],
    );
    let gate = ["--gate", "max<100us"].map(OsStr::new);
    let compared = whylate([OsStr::new("compare"), path.as_os_str(), gate[0], gate[1]]);
    assert_eq!(compared.code, Some(0), "{compared:#?}");
}

#[test]
fn a_trace_without_a_wake_up_does_not_show_how_late_its_threads_were() {
    let text = "app-7 [002] d..3 9.000001: sched_switch: prev_comm=app prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n\
        <idle>-0 [002] d..3 9.000040: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=7 next_prio=120\n\
        app-7 [002] d..3 9.000090: sched_switch: prev_comm=app prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n";
    let (_directory, path) = file_of("switches.txt", text.as_bytes());
    let run = whylate([OsStr::new("explain"), OsStr::new("--task"), OsStr::new("app"), path.as_os_str()]);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stderr.contains("no wake-up was recorded"), "{run:#?}");
}

#[test]
fn a_table_without_any_noise_has_no_finding() {
    let text = "duration:   0 00:00:03 | time is in us\n\
                CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          NMI\n  \
                2 #3           2250000            0   100.00000           0            0           0            0\n";
    let (_directory, path) = file_of("quiet.txt", text.as_bytes());
    let run = explain(&path);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains("no CPU of the table lost any time to noise"), "{run:#?}");
    assert!(!run.stdout.contains("os-noise") && !run.stdout.contains("fix"), "{run:#?}");
}

/// `rtla timerlat hist -e EVENT --on-end shell` prints both.
#[test]
fn a_table_beside_a_row_that_shows_nothing_is_a_measurement() {
    let table = "# RTLA timerlat histogram\n# Time unit is microseconds (us)\nIndex   IRQ-000   Thr-000\n\
                 7         2         0\n29        0         2\nover:     0         0\ncount:    2         2\n\
                 min:      7        29\navg:      7        29\nmax:      7        29\n";
    let row = "    timerlatu/0-47  [000] ...22 863.286497: bpf_trace_printk: Latency: 212\n";
    for text in [format!("{table}{row}"), format!("{row}{table}")] {
        let (_directory, path) = file_of("both.txt", text.as_bytes());
        let known = ["it is a measurement (rtla, timerlat)", "the longest latency is 29.00 us"];
        refused(&explain(&path), &known);
    }
}

/// The title of `cpudist -O` stands above stacks as well.
#[test]
fn a_histogram_below_the_title_of_a_table_is_a_measurement() {
    let text = "Tracing off-CPU time... Hit Ctrl-C to end.\n\
                \x20    usecs               : count     distribution\n\
                \x20        2 -> 3          : 5        |****************************************|\n\
                \x20        4 -> 7          : 1        |********                                |\n";
    let (_directory, path) = file_of("cpudist.txt", text.as_bytes());
    let words = [
        "it is a measurement (cpudist, off-CPU time)",
        "how long each took",
        "the longest time is 4.00 us to 8.00 us",
        "every time shown is rounded down",
        "To compare it with another one, run whylate compare",
    ];
    refused(&explain(&path), &words);
    let (_directory, path) =
        file_of("stacks.txt", b"Tracing off-CPU time (us) of all threads by kernel stack\n");
    refused(&explain(&path), &["is a table of bcc's offcputime"]);
}

#[test]
fn what_is_no_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_string_lossy().into_owned();
    refused(&explain(directory.path()), &[&path, "directory"]);
    refused(&explain(&directory.path().join("missing.dat")), &[&path, "missing.dat", "no such file"]);
    refused(&explain(Path::new("")), &["FILE"]);
    refused(&whylate(["explain"]), &["FILE"]);
}

/// Names are bytes, and are given back readably.
#[test]
fn names_that_are_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(OsStr::from_bytes(b"tr\xffce \n.dat"));
    refused(&explain(&path), &["no such file"]);
    fs::copy(fixture("6.1-nothing.dat"), &path).expect("a copy");
    assert_eq!(explain(&path).code, Some(0));
}

/// A report is put in place when it is whole; a device takes it as it is.
#[test]
fn a_report_takes_the_place_of_the_one_before() {
    let trace = fixture("6.1-nothing.dat");
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("report.html");
    fs::write(&page, "before").expect("a file");
    for output in [page.as_path(), Path::new("/dev/null")] {
        let run = whylate([OsStr::new("explain"), trace.as_os_str(), OsStr::new("-o"), output.as_os_str()]);
        assert_eq!(run.code, Some(0), "{run:#?}");
    }
    assert!(fs::read_to_string(&page).expect("a report").trim_end().ends_with("</html>"));
    assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
}

/// `/dev/full` takes nothing, as a full disk: what standard output can take is not lost with it.
#[test]
fn a_full_disk_does_not_cost_the_other_outputs() {
    let trace = fixture("6.1-nothing.dat");
    let run =
        |arguments: &[&OsStr]| whylate([OsStr::new("explain"), trace.as_os_str()].iter().chain(arguments));
    let expected = run(&[]);
    let full = run(&["-o", "/dev/full"].map(OsStr::new));
    assert_eq!((full.code, &full.stdout), (Some(2), &expected.stdout), "{full:#?}");
    assert!(full.stderr.contains("/dev/full"), "{}", full.stderr);

    // Standard output is the full one: the file is written.
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("report.html");
    let mut command = command();
    command.arg("explain").arg(&trace).arg("-o").arg(&page);
    let full = fs::File::options().write(true).open("/dev/full").expect("a device");
    let run = ended(command.stdout(full).output().expect("starts"));
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("standard output"), "{}", run.stderr);
    assert!(fs::read_to_string(&page).expect("a report").trim_end().ends_with("</html>"));
}

/// A message quotes a name of a file; the terminal would obey its escape sequences.
#[test]
fn escape_sequences_do_not_reach_the_terminal() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("\u{1b}[2J\u{9b}31mred.json");
    for verb in ["explain", "compare", "plan"] {
        let options: &[&str] = match verb {
            "plan" => &["--from"],
            "compare" => &["--gate", "max<1ms"],
            _ => &[],
        };
        fs::write(&path, "{\"schema\": \"\u{1b}[31m\"}").expect("a file");
        let run = whylate([&[verb], options].concat().iter().map(OsStr::new).chain([path.as_os_str()]));
        assert_eq!(run.code, Some(2), "{run:#?}");
        let hostile = |c: char| c.is_control() && c != '\n';
        assert!(!run.stderr.contains(hostile) && run.stderr.contains("red.json"), "{run:#?}");
    }
}

/// A second name of the file before shows whether it was written over or replaced.
#[test]
fn no_verb_writes_over_the_file_before() {
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checks/tests/fixtures/7.2.snapshot");
    let machine = machine.to_str().expect("UTF-8");
    let options = [
        ("check", "a.html", &[][..]),
        ("plan", "a.json", &["--isolated", "1"]),
        ("snapshot", "a.tar.zst", &[]),
    ];
    for (verb, name, more) in options {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, other) = (directory.path().join(name), directory.path().join("other"));
        fs::write(&file, "before").expect("a file");
        fs::hard_link(&file, &other).expect("a second name");
        let run = whylate([verb, "--root", machine, "-o", file.to_str().expect("UTF-8")].iter().chain(more));
        assert_ne!(run.code, Some(2), "{run:#?}");
        assert_eq!(fs::read_to_string(&other).expect("the file before"), "before", "{verb}");
        assert!(fs::metadata(&file).expect("a new file").len() > 100, "{verb}");
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 2, "{verb}");
    }
}

/// Wherever a recording is cut, the part before is explained and the damage reported, or the
/// message has the reason why there is nothing to explain. Version 6 has its data last, so that most
/// of it can be cut away.
#[test]
fn recordings_that_are_cut() {
    for (name, at_least) in [("6.1-higher.dat", 1), ("6.1-higher-v6.dat", 1)] {
        let whole = fs::read(fixture(name)).expect("a recording");
        let events = |answer: &serde_json::Value| number(&answer["trace"]["events"]);
        let run = whylate([OsStr::new("explain"), OsStr::new("--json"), fixture(name).as_os_str()]);
        let all = events(&answer(&run.stdout));
        let mut answered = 0;
        for percent in [1, 10, 30, 50, 60, 70, 80, 90, 95, 99] {
            let cut = whole.get(..whole.len() * percent / 100).expect("a part");
            let (_directory, path) = file_of("cut.dat", cut);
            let run = whylate([OsStr::new("explain"), OsStr::new("--json"), path.as_os_str()]);
            if run.code == Some(2) {
                refused(&run, &[&path.to_string_lossy()]);
                continue;
            }
            let answer = answer(&run.stdout);
            assert!(events(&answer) <= all, "{name} at {percent} %");
            assert!(
                !list(&answer["trace"]["damage"]).is_empty(),
                "{name} at {percent} %: no damage reported"
            );
            if events(&answer) > 0 {
                answered += 1;
            }
            let text = explain(&path);
            assert!(text.stdout.contains("Incomplete recording"), "{name} at {percent} %: {text:#?}");
        }
        assert!(answered >= at_least, "{name}: {answered} parts were of any use");
    }
}

/// Every byte in a sample of places turned over: an answer or a message.
#[test]
fn recordings_with_wrong_bytes() {
    let whole = fs::read(fixture("6.1-higher-v6.dat")).expect("a recording");
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("wrong.dat");
    for round in 0..40usize {
        let mut bytes = whole.clone();
        for place in 0..20usize {
            let at = (round * 7919 + place * 104_729 + round * place * 31) % bytes.len();
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 0xff;
            }
        }
        fs::write(&path, &bytes).expect("a file");
        let run = whylate([OsStr::new("explain"), OsStr::new("--json"), path.as_os_str()]);
        match run.code {
            Some(2) => refused(&run, &["wrong.dat"]),
            Some(0 | 1 | 3) => drop(answer(&run.stdout)),
            _ => panic!("round {round}: {run:#?}"),
        }
    }
}

#[test]
fn a_file_that_this_user_may_not_read() {
    let (directory, path) = file_of("secret.dat", b"x");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("chmod");
    fs::set_permissions(&path, Permissions::from_mode(0o000)).expect("chmod");
    let Some(mut command) = as_nobody() else { return };
    let output = command.arg("explain").arg(&path).output().expect("runs");
    refused(&ended(output), &[&path.to_string_lossy(), "permission"]);
    // Pages copied out of tracefs by root.
    let pages = directory.path().join("per_cpu/cpu0/trace_pipe_raw");
    fs::create_dir_all(pages.parent().expect("a directory")).expect("directories");
    fs::write(&pages, b"x").expect("a file");
    fs::set_permissions(&pages, Permissions::from_mode(0o000)).expect("chmod");
    let Some(mut command) = as_nobody() else { return };
    let output = command.arg("explain").arg(directory.path()).output().expect("runs");
    refused(&ended(output), &["per_cpu/cpu0/trace_pipe_raw", "ermission", "sudo"]);
}

#[test]
fn options_that_do_not_exist_or_make_no_sense() {
    let file = fixture("6.1-nothing.dat");
    let with = |options: &[&str]| {
        let arguments = [OsStr::new("explain"), file.as_os_str()];
        whylate(arguments.into_iter().chain(options.iter().map(OsStr::new)))
    };
    refused(&with(&["--sepcial"]), &["--sepcial"]);
    refused(&with(&["--deadline", "soon"]), &["--deadline", "soon"]);
    refused(&with(&["--deadline", "0s"]), &["--deadline", "more than zero"]);
    refused(
        &with(&["--format", "yaml"]),
        &["--format", "yaml", "text, json, html, markdown, svg, sarif, junit"],
    );
    refused(&with(&["-o", "report.yaml"]), &["report.yaml", ".txt, .json, .html, .md, .svg, .sarif, .xml"]);
    refused(&with(&["--worst", "0"]), &["--worst"]);
    refused(&with(&["--fail-on", "sometimes"]), &["--fail-on", "info", "warning", "error"]);
    refused(&with(&["--code", "bad-luck"]), &["bad-luck", "--code list"]);
    refused(&whylate(["explian"]), &["explian", "explain"]);
    refused(&whylate([] as [&str; 0]), &["Usage"]);
}

#[test]
fn a_task_that_is_not_in_the_trace() {
    let file = fixture("6.1-nothing.dat");
    for task in ["no-such-thread", "31999"] {
        let run = whylate([OsStr::new("explain"), file.as_os_str(), OsStr::new("--task"), OsStr::new(task)]);
        assert_eq!(run.code, Some(3), "{run:#?}");
        assert!(run.stderr.contains(task), "{run:#?}");
        assert!(!run.stdout.contains("No thread") && run.stderr.lines().count() == 1, "said twice: {run:#?}");
    }
}

#[test]
fn traces_on_standard_input() {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../intake/tests/fixtures/throttled_excerpt.txt");
    let text = fs::read(text).expect("a text");
    let from_stdin = |text: &[u8]| {
        let mut child = command()
            .args(["explain", "--json", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut stdin = child.stdin.take().expect("its input");
        let text = text.to_vec();
        // It may well have seen enough before the end.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&text)));
        let output = child.wait_with_output().expect("ends");
        writer.join().expect("written");
        ended(output)
    };
    let run = from_stdin(&text);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert_eq!(answer(&run.stdout)["activations"][0]["verdict"]["cause"], "rt-throttled");
    refused(&from_stdin(b"what is this?\n"), &["standard input"]);
    refused(&from_stdin(b""), &["standard input"]);
    let run = from_stdin(&fs::read(fixture("6.1-nothing.dat")).expect("a recording"));
    assert_eq!(
        (run.code, answer(&run.stdout)["trace"]["events"].as_u64()),
        (Some(0), Some(5996)),
        "{run:#?}"
    );
}

#[test]
fn a_report_that_cannot_be_written() {
    let file = fixture("6.1-nothing.dat");
    let directory = tempfile::tempdir().expect("a directory");
    for path in [directory.path().join("missing/report.html"), directory.path().to_owned()] {
        let run = whylate([OsStr::new("explain"), file.as_os_str(), OsStr::new("-o"), path.as_os_str()]);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(&*path.to_string_lossy()), "{run:#?}");
    }
    assert_eq!(fs::read_dir(directory.path()).expect("list").count(), 0);
}

/// `whylate explain FILE | head -1`: the reader closes the pipe, and the exit code is that of the findings.
#[test]
fn a_reader_that_goes_away_changes_no_exit_code() {
    for (name, options, code) in [
        ("6.1-throttle.dat", &[][..], 1),
        ("6.1-throttle.dat", &["--json"], 1),
        ("6.1-throttle.dat", &["--format", "html"], 1),
        ("6.1-nothing.dat", &["--json"], 0),
        ("6.1-throttle.dat", &["--code", "rt-throttled"], 0),
    ] {
        let file = fixture(name);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let child =
            command().arg("explain").arg(&file).args(options).stdout(writer).stderr(Stdio::piped()).spawn();
        let run = ended(child.expect("starts").wait_with_output().expect("ends"));
        assert_eq!((run.code, run.stderr.as_str()), (Some(code), ""), "{name} {options:?}");
    }
}

/// A full disk is an error, unlike a reader that went away.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        whylate_testing::skip(Need::Machine, "there is no /dev/full");
        return;
    };
    let file = fixture("6.1-nothing.dat");
    let child = command().arg("explain").arg(&file).stdout(full).stderr(Stdio::piped()).spawn();
    let run = ended(child.expect("starts").wait_with_output().expect("ends"));
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("standard output") && run.stderr.contains("space"), "{run:#?}");
}

#[test]
fn a_wake_up_tracer_without_its_thread_keeps_its_latency() {
    let (_directory, path) = file_of(
        "trace.txt",
        b"# tracer: wakeup_rt\n#\n# latency: 190 us, #4/4, CPU#1 | (X#0)\n  app-812    0d.h3  190us : other_event: next=app\n",
    );
    let run = explain(&path);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stderr.contains("lacks the line with the thread"), "{}", run.stderr);
    assert!(run.stderr.contains("Known of it: 190.0 us on CPU 1."), "{}", run.stderr);
}
