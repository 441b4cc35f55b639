//! Recordings made on this machine. Needs root and tracefs; reports a skip and passes where
//! there is neither.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use whylate_base::{CpuSet, Ns, Tid};
use whylate_events::{FACT_PREFIX, Fact, KindSet, ProbedActivations};
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::tracefs::{Instance, Tracefs};
use whylate_investigate::record::{RecordError, RecordOptions, RecordReport, SessionOptions, Stop, record};
use whylate_ledger::{Cause, Options};
use whylate_stacks::{FunctionPlace, ProbedPlace};
use whylate_testing::Need;

/// Tracefs, where this user may make an instance in it. One test at a time: each looks at
/// what is left of this process's instances.
fn tracefs_available() -> Option<(Tracefs, MutexGuard<'static, ()>)> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let tried = Tracefs::open().and_then(|tracefs| Instance::create(&tracefs).map(|_| tracefs));
    tried.map_err(|error| whylate_testing::skip(Need::Tracefs, error)).ok().map(|tracefs| (tracefs, guard))
}

fn instances(tracefs: &Tracefs, pid: u32) -> Vec<String> {
    let entries = fs::read_dir(tracefs.root().join("instances")).expect("instances");
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    // whylate-NAMESPACES-PID-START-N
    let pid = pid.to_string();
    names.filter(|name| name.starts_with("whylate-") && name.split('-').nth(2) == Some(&pid)).collect()
}

/// What other tools share and a recording must not touch.
fn shared_state(tracefs: &Tracefs) -> Vec<(&'static str, String)> {
    let files = [
        "current_tracer",
        "tracing_on",
        "set_event",
        "set_event_pid",
        "trace_clock",
        "trace_options",
        "buffer_size_kb",
        "buffer_percent",
        "saved_cmdlines_size",
        "tracing_cpumask",
    ];
    files.map(|file| (file, fs::read_to_string(tracefs.root().join(file)).unwrap_or_default())).into()
}

fn options(directory: &Path, command: &[&str]) -> RecordOptions {
    RecordOptions {
        user: None,
        processes: Vec::new(),
        output: directory.join("a.dat"),
        duration: None,
        stacks: None,
        command: (!command.is_empty()).then(|| command.iter().map(OsString::from).collect()),
        command_to_stderr: false,
        session: SessionOptions { buffer_kib: 2048, ..SessionOptions::default() },
    }
}

fn events_in_file(path: &Path) -> u64 {
    let file = TraceFile::open(path).expect("our file opens");
    assert_eq!(file.info().damage, []);
    let mut events = file.raw_events();
    let mut count = 0;
    while let Some(event) = events.next() {
        assert!(event.format.is_some(), "event id {} has no format", event.id);
        count += 1;
    }
    count
}

fn recorded(report: &RecordReport) -> u64 {
    report.cpus.iter().map(|cpu| cpu.events).sum()
}

#[test]
fn a_command_is_recorded_from_its_first_instruction() {
    let Some((tracefs, _one)) = tracefs_available() else { return };
    let directory = tempfile::tempdir().expect("directory");
    let before = shared_state(&tracefs);
    let options = options(directory.path(), &["sh", "-c", "ls / >/dev/null; exit 3"]);
    let report = record(&options, &Stop::default()).expect("recorded");
    assert_eq!(shared_state(&tracefs), before);
    assert_eq!(instances(&tracefs, std::process::id()), Vec::<String>::new());
    assert_eq!(fs::read_dir(directory.path()).expect("list").count(), 1, "nothing but the file is left");

    assert_eq!(report.child.and_then(|status| status.code()), Some(3));
    assert_eq!(report.bytes, fs::metadata(&report.path).expect("file").len());
    assert_eq!(events_in_file(&report.path), recorded(&report));

    let file = TraceFile::open(&report.path).expect("opens");
    assert_eq!(file.info().clock.as_deref(), Some(report.clock.as_str()));
    assert_eq!(file.buffers().iter().map(|buffer| buffer.name.as_str()).collect::<Vec<_>>(), ["", "threads"]);
    let (mut facts, mut seen) = (Vec::new(), Vec::new());
    let mut events = file.raw_events();
    while let Some(event) = events.next() {
        let name = event.format.map(|format| format.name.clone()).unwrap_or_default();
        if name == "print" {
            let text = String::from_utf8_lossy(event.text("buf").unwrap_or_default()).into_owned();
            assert!(text.starts_with(FACT_PREFIX), "{text}");
            facts.push(Fact::parse(text.trim_end()).expect("a fact of ours"));
        }
        let who = event.int(if name == "sched_process_fork" { "child_pid" } else { "common_pid" });
        seen.push((event.ts, event.buffer, name, who));
    }
    assert!(facts.iter().any(|fact| matches!(fact, Fact::RtPeriodUs(_))), "{facts:?}");
    let workload = facts.iter().find_map(|fact| match fact {
        Fact::Workload { tid } => Some(i64::from(tid.0)),
        _ => None,
    });
    let first = |names: &[&str]| {
        let of_it = |&&(_, _, ref name, who): &&(_, usize, String, _)| {
            who == workload && names.contains(&name.as_str())
        };
        let &(ts, buffer, ..) =
            seen.iter().find(of_it).unwrap_or_else(|| panic!("{names:?} of {workload:?}"));
        (ts, buffer)
    };
    let (fork, exec) = (first(&["sched_process_fork"]), first(&["sched_process_exec"]));
    let call = first(&["sys_enter", "sys_exit", "page_fault_user", "page_fault_kernel"]);
    assert_eq!((fork.1, exec.1, call.1), (0, 0, 1), "each in its buffer");
    assert!(fork.0 < call.0 && call.0 < exec.0, "what it did before its exec is there");
}

#[test]
fn the_cpus_of_a_followed_thread_are_written_when_they_change() {
    let Some((_, _one)) = tracefs_available() else { return };
    let directory = tempfile::tempdir().expect("directory");
    let cpu = whylate_sys::getaffinity(Tid(0)).expect("affinity").iter().next().expect("a CPU");
    // It is started with this thread's CPUs, and binds itself before it becomes `sleep`.
    let options = options(directory.path(), &["taskset", "-c", &cpu.to_string(), "sleep", "1"]);
    let report = match record(&options, &Stop::default()) {
        Err(RecordError::Command { why, .. }) => {
            return whylate_testing::skip(Need::Program, format_args!("taskset: {why}"));
        }
        report => report.expect("recorded"),
    };
    let file = TraceFile::open(&report.path).expect("opens");
    let mut facts = Vec::new();
    let mut events = file.raw_events();
    while let Some(event) = events.next() {
        if event.format.is_some_and(|format| format.name == "print") {
            let text = String::from_utf8_lossy(event.text("buf").unwrap_or_default()).into_owned();
            facts.extend(Fact::parse(text.trim_end()));
        }
    }
    let workload = facts.iter().find_map(|fact| match fact {
        Fact::Workload { tid } => Some(*tid),
        _ => None,
    });
    let last = facts.iter().rev().find_map(|fact| match fact {
        Fact::Affinity { tid, cpus } if Some(*tid) == workload => Some(cpus.clone()),
        _ => None,
    });
    assert_eq!(last, Some(CpuSet::from_iter([cpu])), "{facts:?}");
}

#[test]
fn trace_cmd_lists_as_many_events() {
    let Some((_, _one)) = tracefs_available() else { return };
    if !whylate_testing::has_program("trace-cmd") {
        return;
    }
    let directory = tempfile::tempdir().expect("directory");
    let mut options = options(directory.path(), &["sleep", "0.1"]);
    options.session.extra_events = vec!["timer:timer_start".to_owned()];
    let report = record(&options, &Stop::default()).expect("recorded");
    let listed =
        Command::new("trace-cmd").args(["report", "-N"]).arg(&report.path).output().expect("trace-cmd");
    let text = String::from_utf8_lossy(&listed.stdout);
    let losses = |line: &str| line.contains("EVENTS DROPPED]");
    let events = text.lines().filter(|line| line.contains("] ") && !losses(line)).count() as u64;
    assert_eq!(events, recorded(&report), "{}", String::from_utf8_lossy(&listed.stderr));
    assert!(text.contains("timer_start:"), "the event asked for");
}

#[test]
fn the_stop_flag_and_the_duration_end_it() {
    let Some((tracefs, _one)) = tracefs_available() else { return };
    let directory = tempfile::tempdir().expect("directory");
    let mut options = options(directory.path(), &[]);
    let stop = Stop::default();
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            stop.asked.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        record(&options, &stop).expect("recorded")
    });
    assert!(recorded(&report) > 0 && report.child.is_none());

    options.duration = Some(Duration::from_millis(50));
    options.command = Some(vec!["sleep".into(), "60".into()]);
    let report = record(&options, &Stop::default()).expect("recorded");
    assert_eq!(report.child.and_then(|status| status.signal()), Some(15), "the command was told to end");
    assert!(report.duration.0 >= 50_000_000);
    assert_eq!(instances(&tracefs, std::process::id()), Vec::<String>::new());
}

#[test]
fn errors_leave_nothing() {
    let Some((tracefs, _one)) = tracefs_available() else { return };
    let directory = tempfile::tempdir().expect("directory");
    fs::write(directory.path().join("plain"), "no program").expect("write");
    let plain = directory.path().join("plain");
    let mut no_event = options(directory.path(), &["true"]);
    no_event.session.extra_events = vec!["sched:no_such".to_owned()];
    let mut no_clock = options(directory.path(), &["true"]);
    no_clock.session.clock = Some("sundial".to_owned());
    let mut no_directory = options(directory.path(), &["true"]);
    no_directory.output = directory.path().join("none/a.dat");
    for (options, expected) in [
        (options(directory.path(), &["no-such-program-anywhere"]), "no such program"),
        (options(directory.path(), &[&plain.to_string_lossy()]), "not an executable file"),
        (
            RecordOptions { command: Some(Vec::new()), ..options(directory.path(), &[]) },
            "no program was named",
        ),
        (no_event, "sched:no_such"),
        (no_clock, "sundial"),
        (no_directory, "none/a.dat"),
    ] {
        let error = record(&options, &Stop::default()).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        assert!(!cause.is_some_and(|cause| error.to_string().contains(&cause)), "the cause twice: {error}");
        assert_eq!(instances(&tracefs, std::process::id()), Vec::<String>::new(), "{error}");
        assert_eq!(fs::read_dir(directory.path()).expect("list").count(), 1, "{error}");
    }
}

#[test]
fn a_command_that_is_killed_ends_the_recording() {
    let Some((tracefs, _one)) = tracefs_available() else { return };
    let directory = tempfile::tempdir().expect("directory");
    let report = record(&options(directory.path(), &["sh", "-c", "kill -9 $$"]), &Stop::default());
    let report = report.expect("recorded");
    assert_eq!(report.child.and_then(|status| status.signal()), Some(9));
    assert_eq!(events_in_file(&report.path), recorded(&report));
    assert_eq!(instances(&tracefs, std::process::id()), Vec::<String>::new());
}

/// Records without end; started by the next test, which kills it.
#[test]
fn child_that_records() {
    if let Some(directory) = std::env::var_os("WHYLATE_TEST_RECORD_TO") {
        let result = record(&options(&PathBuf::from(directory), &[]), &Stop::default());
        unreachable!("it was to be killed: {:?}", result.map_err(|error: RecordError| error.to_string()));
    }
}

#[test]
fn what_a_killed_recording_leaves_the_next_one_removes() {
    let Some((tracefs, _one)) = tracefs_available() else { return };
    let directory = tempfile::tempdir().expect("directory");
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "child_that_records"])
        .env("WHYLATE_TEST_RECORD_TO", directory.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("child");
    let started = Instant::now();
    let tracing = |tracefs: &Tracefs, pid| {
        instances(tracefs, pid).iter().any(|name| {
            let on = tracefs.root().join("instances").join(name).join("tracing_on");
            fs::read_to_string(on).is_ok_and(|on| on == "1\n")
        })
    };
    while !tracing(&tracefs, child.id()) && started.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(5));
    }
    let was_tracing = tracing(&tracefs, child.id());
    child.kill().expect("kill");
    child.wait().expect("wait");
    assert!(was_tracing, "the child never recorded");
    let left = instances(&tracefs, child.id());
    assert!(!left.is_empty());
    assert_eq!(fs::read_dir(directory.path()).expect("list").count(), 0, "no half file");

    let report = record(&options(directory.path(), &["true"]), &Stop::default()).expect("recorded");
    assert_eq!(instances(&tracefs, child.id()), Vec::<String>::new());
    // Another recording on this machine may have been quicker to remove it, and then reports that itself.
    let reported =
        left.iter().filter(|name| report.notes.iter().any(|note| note.contains(name.as_str()))).count();
    println!("{reported} of {} removals noted here", left.len());
}

#[test]
fn markers_of_programs_are_recorded() {
    let Some((tracefs, _one)) = tracefs_available() else { return };
    let copies = Instance::create(&tracefs).expect("an instance").copy_markers();
    let directory = tempfile::tempdir().expect("directory");
    let mut options = options(directory.path(), &["sleep", "0.2"]);
    options.session.markers = true;
    let over = AtomicBool::new(false);
    let recorded = thread::scope(|scope| {
        // Tracefs may be mounted for this process alone: the program that marks is this one.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                fs::write(tracefs.root().join("trace_marker"), "cycle begin 7").expect("a marker");
                thread::sleep(Duration::from_millis(5));
            }
        });
        let recorded = record(&options, &Stop::default());
        over.store(true, Ordering::Relaxed);
        recorded
    });
    if !copies {
        let error = recorded.expect_err("this kernel has them in the top-level buffer only");
        assert!(matches!(error, RecordError::Markers), "{error}");
        return;
    }
    let report = recorded.expect("recorded");
    let file = TraceFile::open(&report.path).expect("opens");
    let mut events = file.raw_events();
    let mut lines = Vec::new();
    while let Some(event) = events.next() {
        if event.format.is_some_and(|format| format.name == "print") {
            lines.push(String::from_utf8_lossy(event.text("buf").unwrap_or_default()).into_owned());
        }
    }
    assert!(lines.iter().any(|line| line.starts_with("cycle begin 7")), "{lines:?}");
}

#[inline(never)]
fn a_probed_function(work: u64) -> u64 {
    thread::sleep(Duration::from_millis(2));
    std::hint::black_box(work + 1)
}

#[test]
fn calls_of_a_function_are_recorded_and_leave_no_probe() {
    let Some((tracefs, _one)) = tracefs_available() else { return };
    if !tracefs.root().join("uprobe_events").exists() {
        return whylate_testing::skip(
            Need::Machine,
            "this kernel cannot probe programs (CONFIG_UPROBE_EVENTS)",
        );
    }
    let probes = || fs::read_to_string(tracefs.root().join("uprobe_events")).expect("a list");
    let before = probes();
    let directory = tempfile::tempdir().expect("directory");
    let own = std::env::current_exe().expect("this program");
    let mut options = options(directory.path(), &["sleep", "0.2"]);
    let place = FunctionPlace::find(&own, "a_probed_function").expect("it is there");
    options.session.at = Some(ProbedPlace::Function(place));
    let over = AtomicBool::new(false);
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                a_probed_function(1);
            }
        });
        let report = record(&options, &Stop::default());
        over.store(true, Ordering::Relaxed);
        report
    });
    let report = report.expect("recorded");
    assert_eq!(probes(), before);
    let source = whylate_intake::open(&report.path, KindSet::ALL).expect("opens");
    assert_eq!(source.info().probed, Some(ProbedActivations::BeginAndEnd));
    let explanation = whylate_ledger::explain(source, &Options::default());
    let whole: Vec<_> = explanation.activations.iter().filter(|one| one.is_whole()).collect();
    assert!(!whole.is_empty());
    for one in whole {
        assert!(one.response() >= Ns::from_ms(2), "{}", one.response());
        assert!(one.ledger.iter().any(|part| part.cause == Cause::OwnWait), "{:?}", one.ledger);
    }
}

#[test]
fn a_place_that_is_no_code_is_refused() {
    let Some((tracefs, _one)) = tracefs_available() else { return };
    if !tracefs.root().join("uprobe_events").exists() {
        return whylate_testing::skip(
            Need::Machine,
            "this kernel cannot probe programs (CONFIG_UPROBE_EVENTS)",
        );
    }
    let directory = tempfile::tempdir().expect("directory");
    let mut options = options(directory.path(), &["true"]);
    let place = FunctionPlace { path: PathBuf::from("/nowhere"), name: "step".to_owned(), offset: 64 };
    options.session.at = Some(ProbedPlace::Function(place));
    let error = record(&options, &Stop::default()).expect_err("there is no such file");
    assert!(matches!(error, RecordError::Probe { .. }), "{error}");
}
