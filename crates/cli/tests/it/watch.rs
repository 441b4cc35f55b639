//! `whylate watch`: late activations of a thread of this test, what is kept of them, and what remains of a watch that is
//! killed.

use crate::support::run::{Killed, as_nobody, command, copy_program, ended, whylate};
use crate::support::tracefs::Tracefs;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whylate_testing::{Need, skip};

/// The name of the watched thread.
const NAME: &str = "watched-by-test";
/// Nothing here takes this long, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The thread is done long before this, except each tenth time; then it works for longer than this.
const DEADLINE: &str = "40ms";
const WORK: Duration = Duration::from_millis(60);

/// A thread that wakes each 10 ms, and works for too long each tenth time, until it is dropped.
struct LateThread {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LateThread {
    fn start() -> LateThread {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let work = move || {
            for turn in 1u64.. {
                if asked.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
                let begun = Instant::now();
                while turn % 10 == 0 && begun.elapsed() < WORK {
                    std::hint::spin_loop();
                }
            }
        };
        let thread = std::thread::Builder::new().name(NAME.to_owned()).spawn(work).expect("a thread");
        LateThread { stop, thread: Some(thread) }
    }
}

impl Drop for LateThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A watch that runs, and its lines as they come.
struct Watch {
    process: Killed,
    lines: Receiver<String>,
}

impl Watch {
    fn start(arguments: &[&str]) -> Watch {
        let mut whylate = command();
        whylate.args(["watch", "--json", "--max-cpu", "100"]).args(arguments).stdout(Stdio::piped());
        let mut process = Killed(whylate.spawn().expect("whylate starts"));
        let lines = BufReader::new(process.0.stdout.take().expect("a pipe")).lines();
        let (write, read) = channel();
        // It ends with the process, or when no test waits for its lines any more.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if write.send(line).is_err() {
                    return;
                }
            }
        });
        Watch { process, lines: read }
    }

    fn id(&self) -> u32 {
        self.process.0.id()
    }

    /// The next event of a name.
    fn until(&mut self, name: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line =
                self.lines.recv_timeout(left).unwrap_or_else(|error| panic!("no event {name}: {error}"));
            let event: Value = serde_json::from_str(&line).expect("a JSON object in each line");
            assert_eq!(event["schema"], "whylate.watch/1");
            if event["event"] == name {
                return event;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.id() as i32).expect("a process");
        kill_process(pid, signal).expect("a signal");
    }

    /// Ends it as a service manager does; its summary and its exit code.
    fn end(mut self) -> (Value, Option<i32>) {
        self.signal(Signal::TERM);
        let summary = self.until("summary")["summary"].take();
        (summary, self.process.0.wait().expect("an end").code())
    }
}

fn windows(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.ends_with(".dat")).collect()
}

/// The rows of a table.
fn tables_rows(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let of = |path: std::path::PathBuf| match path.is_dir() {
        true => tables_rows(&path),
        false => whylate_tables::read(&path).expect("a table").rows(),
    };
    entries.map(of).sum()
}

#[test]
fn late_activations_are_explained_kept_and_grouped_and_a_killed_watch_is_continued() {
    let Some(tracefs) = Tracefs::open() else { return };
    let settings = tracefs.settings();
    let place = tempfile::tempdir().expect("a directory");
    let keep = place.path().join("kept");
    let path = keep.to_str().expect("text");
    let _thread = LateThread::start();
    let tables = place.path().join("tables");
    let tables_path = tables.to_str().expect("text");
    let arguments =
        ["--task", "watched-by-*", "--deadline", DEADLINE, "--keep", path, "--tables", tables_path];

    let mut killed = Watch::start(&arguments);
    killed.until("started");
    assert_eq!(tracefs.instances(killed.id()).len(), 1);
    let late = killed.until("late");
    assert_eq!((&late["thread"]["comm"], &late["deadline_from"]), (&NAME.into(), &"deadline".into()));
    let response = late["response_ns"].as_i64().expect("a number");
    assert!(response > 40_000_000, "{late:#}");
    let ledger = late["ledger"].as_array().expect("a list");
    assert_eq!(ledger.iter().map(|entry| entry["ns"].as_i64().expect("a number")).sum::<i64>(), response);
    assert!(late["verdict"]["why"].as_str().is_some_and(|why| !why.is_empty()), "{late:#}");
    let window = late["window"].as_str().unwrap_or_else(|| panic!("{late:#}")).to_owned();
    let second = whylate(["watch", "-d", "1s", "--keep", path]);
    assert_eq!(second.code, Some(2), "{second:#?}");
    assert!(second.stderr.contains("another watch runs with this directory"), "{second:#?}");
    let id = killed.id();
    drop(killed);

    // What it kept can be read, and shows the same activation.
    let file = keep.join(&window);
    let explained = whylate(["explain", file.to_str().expect("text"), "--task", NAME, "--json"]);
    let explained: Value = serde_json::from_str(&explained.stdout).expect("a document");
    let activations = explained["activations"].as_array().expect("a list");
    assert!(activations.iter().any(|one| one["due_ns"] == late["due_ns"]), "{late:#} {explained:#}");

    let mut next = Watch::start(&arguments);
    next.until("late");
    assert!(tracefs.instances(id).is_empty(), "the next one removes what a killed one left");
    let own = next.id();
    let (summary, code) = next.end();
    assert_eq!(code, Some(1));
    assert_eq!((&summary["complete"], &summary["threads"][0]["comm"]), (&true.into(), &NAME.into()));
    let kept: Vec<&str> =
        summary["kept"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(kept.contains(&window.as_str()), "{kept:?}");
    assert_eq!(kept.len(), windows(&keep).len());
    assert!(summary["groups"][0]["count"].as_u64() >= Some(1), "{summary:#}");
    assert!(tracefs.instances(own).is_empty());
    assert_eq!(tracefs.settings(), settings);

    // The tables have the late activations of the watch that ended, and what the machine is.
    let rows = |table: &str| tables_rows(&tables.join(table));
    assert!(rows("late_groups") >= 1 && rows("segments") > rows("activations"), "{}", rows("late_groups"));
    assert_eq!(rows("machines"), 1);
    let runs = rows("runs");
    // On a busy machine there may be so many that a part of them is written before the end: a run more.
    assert!(runs >= 2, "{runs}");
    if runs == 2 {
        assert!(rows("activations") as u64 <= summary["late"].as_u64().expect("a number"), "{summary:#}");
    }
    // What the killed one kept is there as well, on request.
    let run = whylate(["tables", "-o", tables_path, path, file.to_str().expect("text")]);
    assert!(run.code == Some(0) && run.stderr.contains("2 added"), "{run:#?}");

    // The directory is a report, and a measurement.
    let report = whylate(["explain", path]);
    assert_eq!(report.code, Some(1), "{report:#?}");
    assert!(report.stdout.contains(NAME) && report.stdout.contains("were late"), "{report:#?}");
    let compared = whylate(["compare", path, path]);
    // With fewer than 100 activations there is no verdict.
    assert!(matches!(compared.code, Some(0 | 3)) && compared.stdout.contains("kept (2)"), "{compared:#?}");
    for format in ["html", "markdown"] {
        let report = whylate(["explain", path, "--format", format]);
        assert!(report.stdout.contains(&window), "{report:#?}");
    }
}

#[test]
fn a_configuration_is_read_again_and_an_invalid_one_is_not() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("watch.toml");
    let told = place.path().join("told");
    let write = |text: &str| fs::write(&file, text).expect("written");
    write("[[thread]]\nname = 'no such thread'\n");
    let mut watch = Watch::start(&["--config", file.to_str().expect("text")]);
    watch.until("started");
    write("[[thread]]\nnme = 'x'\n");
    watch.signal(Signal::HUP);
    let reloaded = watch.until("reloaded");
    assert!(
        reloaded["reason"].as_str().is_some_and(|why| why.contains("unknown field `nme`")),
        "{reloaded:#}"
    );
    let _thread = LateThread::start();
    let action = format!("cat > {0}.new && mv {0}.new {0}", told.display());
    write(&format!("on-late = '{action}'\n[[thread]]\nname = '{NAME}'\ndeadline = '{DEADLINE}'\n"));
    watch.signal(Signal::HUP);
    assert_eq!(watch.until("reloaded")["reason"], Value::Null);
    watch.until("late");
    let end = Instant::now() + PATIENCE;
    while !told.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = fs::read_to_string(&told).expect("the command got the explanation");
    assert!(text.contains(NAME) && text.contains("deadline of 40.00 ms"), "{text}");
    assert_eq!(watch.end().1, Some(1));
}

/// What happened while the watch itself was starting has its own times as well.
#[test]
fn no_response_takes_no_time() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let _thread = LateThread::start();
    // Without a deadline of its own, what is late depends on the machine's load.
    let mut watch = Watch::start(&["--task", NAME, "--deadline", DEADLINE]);
    watch.until("started");
    watch.until("late");
    let (summary, _) = watch.end();
    let thread = &summary["threads"][0];
    // A latency may be 0: a timer whose time is over fires before the thread has gone to sleep, and it stays on the CPU.
    let least = thread["response"]["buckets"][0]["from_ns"].as_i64();
    assert!(least.is_some_and(|least| least > 0), "{thread:#}");
}

/// The C library's function that `sleep` sleeps in is probed for the time of the watch.
#[test]
fn calls_of_a_function_are_activations() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let maps = fs::read_to_string("/proc/self/maps").expect("own mappings");
    let library =
        maps.lines().find_map(|line| line.split_whitespace().nth(5).filter(|path| path.contains("libc.so")));
    let Some(library) = library else {
        return skip(Need::Machine, "this test does not run with a shared C library");
    };
    let probes = || {
        ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]
            .iter()
            .find_map(|root| fs::read_to_string(format!("{root}/uprobe_events")).ok())
    };
    let Some(before) = probes() else {
        return skip(Need::Machine, "this kernel cannot probe programs (CONFIG_UPROBE_EVENTS)");
    };
    let at = format!("{library}:clock_nanosleep");
    // All programs of the machine call this function: a name of its own tells ours from them.
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("napper");
    copy_program("/bin/sleep", &program);
    let script = format!("{0} 0.05; {0} 0.05", program.display());
    let watch = ["watch", "--task", "napper", "--at", &at, "--deadline", "1ms", "--json"];
    let run = whylate([&watch[..], &["--", "sh", "-c", &script]].concat());
    assert_eq!(run.code, Some(1), "{run:#?}");
    let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let late: Vec<Value> = lines.filter(|line| line["event"] == "late").collect();
    assert_eq!(late.len(), 2, "{run:#?}");
    for late in late {
        assert_eq!(late["thread"]["comm"], "napper", "{late:#}");
        assert!(late["response_ns"].as_i64().is_some_and(|ns| ns >= 50_000_000), "{late:#}");
        assert_eq!(late["verdict"]["cause"], "own-wait", "{late:#}");
    }
    assert_eq!(probes(), Some(before));
}

#[test]
fn what_was_not_seen_is_not_fine() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let run = whylate(["watch", "--task", "no such thread", "-d", "300ms"]);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stdout.contains("No activation of a watched thread was seen"), "{run:#?}");
}

#[test]
fn what_cannot_be_done_is_refused() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("file");
    fs::write(&file, "").expect("written");
    let file = file.to_str().expect("text");
    for (arguments, words) in [
        (&["--config", "/no/such/file.toml"][..], "cannot read /no/such/file.toml"),
        (&["--config", file], "it names no thread"),
        (&["--keep", file], "cannot keep windows in"),
        (&["--deadline", "5"], "is not a duration"),
        (&["--max-disk", "1KiB"], "1 MiB or more"),
        (&["--print-unit", "--keep", "kept"], "give the whole path"),
        (&["--"], "a COMMAND must follow"),
    ] {
        let run = whylate([&["watch", "-d", "1ms"], arguments].concat());
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    }
    let Some(mut nobody) = as_nobody() else { return };
    let run = ended(nobody.args(["watch", "-d", "1ms"]).output().expect("whylate starts"));
    assert_eq!(run.code, Some(2), "{run:#?}");
}

#[test]
fn prometheus_takes_its_metrics_and_the_alert_rules() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let _thread = LateThread::start();
    let mut whylate = command();
    whylate.args(["watch", "--task", NAME, "--deadline", DEADLINE, "--max-cpu", "100", "--serve", "0"]);
    let mut watch =
        Killed(whylate.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("whylate starts"));
    let mut line = String::new();
    BufReader::new(watch.0.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("metrics: http://").and_then(|rest| rest.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{line}"));
    let end = Instant::now() + PATIENCE;
    let text = loop {
        let mut stream = TcpStream::connect(address).expect("connected");
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, text) = answer.split_once("\r\n\r\n").expect("a body");
        if text.contains("whylate_watch_late_activations_total{") {
            break text.to_owned();
        }
        assert!(Instant::now() < end, "{text}");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(
        text.contains(&format!("whylate_watch_response_seconds_bucket{{thread=\"{NAME}\",le=\"+Inf\"}}")),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"), "{text}");
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prometheus/whylate-watch.rules.yml");
    let named = fs::read_to_string(&rules).expect("the rules");
    let names = named.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    for name in names.filter(|name| name.starts_with("whylate_watch_")) {
        assert!(text.contains(name), "{name} is in a rule, and not served: {text}");
    }
    let promtool = || {
        let mut promtool = Command::new("promtool");
        promtool.stdin(Stdio::null());
        promtool
    };
    match promtool().args(["check", "rules"]).arg(&rules).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => skip(Need::Machine, format_args!("promtool (package prometheus): {error}")),
    }
}
