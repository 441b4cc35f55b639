//! `whylate guard`: a thread that starves behind another one, and what remains of a guard that is killed.

use crate::support::run::{Killed, as_nobody, command, ended, whylate};
use crate::support::tracefs::one_at_a_time;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use whylate_testing::{Need, skip};

/// Nothing here takes this long, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// A loop on this CPU leaves the others to the rest of the machine.
const CPU: &str = "1";

impl Killed {
    /// A loop with a SCHED_FIFO priority. The kernel kills it after 60 s of CPU time, whatever becomes of this test.
    fn looping(priority: &str) -> Killed {
        let mut whylate = command();
        whylate.args(["run", "--fifo", priority, "--cpus", CPU, "--limit", "rttime=60s", "--"]);
        whylate.args(["sh", "-c", "while :; do :; done"]).stdin(Stdio::null()).stdout(Stdio::null());
        let process = Killed(whylate.spawn().expect("whylate starts"));
        let wanted = format!("1 {priority}");
        wait_for("the loop has its policy", || process.policy() == wanted);
        process
    }

    fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// Its policy and priority, as numbers (proc_pid_stat(5)).
    fn policy(&self) -> String {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        match fields.as_slice() {
            fields if fields.len() > 38 => format!("{} {}", fields[38], fields[37]),
            _ => String::new(),
        }
    }
}

/// A thread that starves, and the one that has its CPU. That one ends first: the other one cannot even be killed before.
struct Starvation {
    hog: Killed,
    starving: Killed,
}

impl Starvation {
    fn begin() -> Starvation {
        let hog = Killed::looping("50");
        Starvation { starving: Killed::looping("3"), hog }
    }
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a loop may have a CPU for itself here.
fn can_starve() -> bool {
    if !rustix::process::geteuid().is_root() {
        skip(Need::Root, "to have a real-time policy");
        return false;
    }
    let arguments = ["run", "--dry-run", "--fifo", "50", "--cpus", CPU, "--", "true"];
    let may = whylate(arguments).code == Some(0);
    if !may {
        skip(Need::Machine, "two CPUs, and the right to a real-time policy");
    }
    may
}

/// The events of a guard until one of a name.
fn events_until(guard: &mut Killed, last: &str) -> Vec<Value> {
    let out = guard.0.stdout.take().expect("a pipe");
    let mut events: Vec<Value> = Vec::new();
    for line in BufReader::new(out).lines() {
        let event: Value = serde_json::from_str(&line.expect("text")).expect("a JSON object in each line");
        let is_last = event["event"] == last;
        events.push(event);
        if is_last {
            return events;
        }
    }
    panic!("no event {last}: {events:#?}");
}

#[test]
fn a_starving_thread_is_named_with_its_culprit_and_gets_its_policy_back() {
    let _turn = one_at_a_time();
    if !can_starve() {
        return;
    }
    let Starvation { hog, starving } = &Starvation::begin();
    let only = ["--only", &starving.id(), "--threshold", "2s"];

    let dry = whylate([&["guard", "--dry-run", "--once"], &only[..]].concat());
    assert_eq!(dry.code, Some(1), "{dry:#?}");
    let line = dry.stdout.lines().find(|line| line.starts_with("starving: ")).expect("a starving thread");
    assert!(line.contains(&format!(":{} ", starving.id())), "{line}");
    assert!(line.contains(&format!(":{} (SCHED_FIFO priority 50) had ", hog.id())), "{line}");
    assert!(!dry.stdout.contains("boosted:"), "{dry:#?}");

    let guard = || {
        let mut guard = command();
        guard.args(["guard", "--json", "--longest", "60s"]).args(only);
        Killed(guard.stdout(Stdio::piped()).spawn().expect("whylate starts"))
    };
    let journal = |guard: &Killed| -> Vec<PathBuf> {
        let name = format!("{}-", guard.id());
        let entries = fs::read_dir("/run/whylate/guard").into_iter().flatten().flatten();
        let is_own =
            |path: &PathBuf| path.file_name().is_some_and(|own| own.to_string_lossy().starts_with(&name));
        entries.map(|entry| entry.path()).filter(is_own).collect()
    };

    // Killed while it lends.
    let mut killed = guard();
    let events = events_until(&mut killed, "boosted");
    assert_eq!(events[1]["event"], "starving");
    assert_eq!(events[1]["by"]["tid"].to_string(), hog.id());
    assert!(events[1]["waited_ns"].as_i64().is_some_and(|waited| waited >= 2_000_000_000), "{events:#?}");
    assert_eq!(journal(&killed).len(), 1);
    let second = whylate(["guard", "-d", "1s"]);
    assert_eq!(second.code, Some(2), "{second:#?}");
    assert!(second.stderr.contains("guards this machine already"), "{second:#?}");
    killed.0.kill().expect("a signal");
    wait_for("the watchdog has restored the policy", || journal(&killed).is_empty());
    assert_eq!(starving.policy(), "1 3");
    drop(killed);

    // Ended by a signal while it lends.
    let mut ending = guard();
    events_until(&mut ending, "boosted");
    let pid = rustix::process::Pid::from_child(&ending.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
    assert_eq!(ending.0.wait().expect("it ends").code(), Some(0));
    assert_eq!(starving.policy(), "1 3");
    assert_eq!(journal(&ending), [] as [PathBuf; 0]);
}

#[test]
fn counts_are_kept_in_a_file() {
    let _turn = one_at_a_time();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("guard.prom");
    let path = file.to_str().expect("a path");
    let run = whylate(["guard", "--dry-run", "-d", "10ms", "--only", "no such thread", "--metrics", path]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let text = fs::read_to_string(&file).expect("the file");
    assert!(text.contains("\nwhylate_guard_looks_total 1\n"), "{text}");
    assert!(text.contains("\nwhylate_guard_starving_total 0\n"), "{text}");
}

#[test]
fn wrong_input_is_refused_before_anything_is_changed() {
    for (arguments, words) in [
        (&["--threshold", "1s"][..], "at least 2.000 s"),
        (&["--threshold-of", "kworker"], "kworker*=5s"),
        (&["--share", "0"], "percentage"),
        (&["--share", "0.01"], "raise --share"),
        (&["--runtime", "2s"], "no more than the period"),
        (&["--metrics", "/no/such/file"], "cannot write /no/such/file"),
        (&["--metrics", "-"], "standard output"),
        (&["--print-unit", "--metrics", "guard.prom"], "whole path"),
    ] {
        let run = whylate([&["guard", "-d", "1ms"], arguments].concat());
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:#?}");
        assert!(run.stderr.contains(words), "{arguments:?}: {run:#?}");
    }
}

#[test]
fn without_root_it_reports_and_helps_nothing() {
    let Some(mut guard) = as_nobody() else { return };
    let run = ended(guard.args(["guard", "-d", "1ms"]).output().expect("whylate starts"));
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("needs root") && run.stderr.contains("--dry-run"), "{run:#?}");
    let Some(mut dry) = as_nobody() else { return };
    let run = ended(dry.args(["guard", "-d", "1ms", "--dry-run"]).output().expect("whylate starts"));
    assert_eq!(run.code, Some(0), "{run:#?}");
}

#[test]
fn the_unit_guards_with_the_same_options() {
    let run = whylate(["guard", "--print-unit", "--threshold", "5s", "--except", "stress*"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stdout.contains(" guard --threshold 5s --except stress*\n"), "{run:#?}");
    assert!(run.stdout.contains("\nType=notify\n"), "{run:#?}");
}
