//! `whylate measure --load`: what is started runs meanwhile, is watched, and is gone afterwards, however that ends.

use crate::support::answer::{list, measurement};
use crate::support::run::{command, ended, whylate};
use crate::support::tracefs::one_at_a_time;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Far longer than anything takes; what it is waited for is an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that leaves its own id and that of a daemon with a session of its own in `directory`, and stays.
fn noise(directory: &Path) -> String {
    let script = directory.join("noise");
    let text = format!(
        "#!/bin/sh\ncd {0}\nsetsid sh -c 'trap \"\" TERM; echo $$ > daemon.part; mv daemon.part daemon; \
         while :; do sleep 1; done' &\necho $$ > own.part; mv own.part own\nexec sleep 1000\n",
        directory.display()
    );
    fs::write(&script, text).expect("a script");
    format!("sh {}", script.display())
}

fn id(path: PathBuf) -> Pid {
    wait_until("the load to run", || path.exists());
    let text = fs::read_to_string(path).expect("an id");
    text.trim().parse().ok().and_then(Pid::from_raw).expect("a process")
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn is_gone(pid: Pid) -> bool {
    // Where no process reaps orphans, one stays a zombie.
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    test_kill_process(pid).is_err() || stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z"))
}

/// The children of a process, by the kernel's list.
fn children(of: u32) -> Vec<Pid> {
    let text = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
}

fn start(arguments: &[&str]) -> Child {
    let mut command = command();
    command.args(["measure", "-d", "1h", "--no-trace", "--json"]).args(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().expect("a pipe")).read_line(&mut line).expect("its first line");
    assert!(line.starts_with("measuring"), "{line}");
    child
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

#[test]
fn a_load_of_each_kind_runs_to_the_end_and_is_reported() {
    let _one = one_at_a_time();
    let both = whylate_sys::getaffinity(whylate_base::Tid(0)).expect("affinity").len() > 1;
    let all = "cpu,memory,cache,io,net,fork,timer";
    let all = if both { format!("{all},irq") } else { all.to_owned() };
    let run = whylate(["measure", "-d", "200ms", "--no-trace", "--json", "--load", &all]);
    let report = measurement(&run);
    let loads = list(&report["loads"]);
    let names: Vec<&str> = loads.iter().filter_map(|load| load["name"].as_str()).collect();
    assert_eq!(names.join(","), all);
    assert!(loads.iter().all(|load| load["died"].is_null()), "{loads:#?}");
    let machine = list(&report["machine"]);
    assert!(machine.iter().any(|setting| setting["name"] == "load"), "compare is to tell it");
}

#[test]
fn a_load_that_ends_is_reported_with_its_last_output() {
    let _one = one_at_a_time();
    let run = whylate([
        "measure",
        "-d",
        "2s",
        "--no-trace",
        "--json",
        "--load",
        "sh -c 'echo no such disk >&2; exit 3'",
    ]);
    let report = measurement(&run);
    let died = list(&report["loads"])[0]["died"].as_str().expect("it died").to_owned();
    assert!(died.contains("exit status: 3") && died.contains("no such disk"), "{died}");
    assert!(run.stderr.contains("does not run any more"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_a_load_is_an_error() {
    for (arguments, why) in [
        (&["--load", "disk"][..], "there is no load \"disk\""),
        (&["--load", "cpu", "--load-cpus", "4000"], "CPU 4000"),
        (&["--load", "irq", "--load-cpus", "0"], "it takes two"),
        (&["--load-cpus", "0"], "--load"),
    ] {
        let run = whylate(["measure", "-d", "100ms", "--no-trace"].iter().chain(arguments));
        // A load that is at work before it fails is reported at the end.
        let is_reported = run.stderr.contains(why) || run.stdout.contains(why);
        assert!(is_reported, "{arguments:?}: {run:#?}");
    }
}

#[test]
fn a_signal_ends_the_loads_and_not_the_report() {
    let _one = one_at_a_time();
    let place = tempfile::tempdir().expect("a directory");
    let child = start(&["--load", "cpu,fork", "--load", &noise(place.path())]);
    let (own, daemon) = (id(place.path().join("own")), id(place.path().join("daemon")));
    let loads = children(child.id());
    assert!(!loads.is_empty(), "the loads are children");
    kill_process(pid(&child), Signal::INT).expect("a signal");
    let report = measurement(&ended(child.wait_with_output().expect("ends")));
    assert_eq!(list(&report["loads"]).len(), 3);
    assert!(list(&report["loads"]).iter().all(|load| load["died"].is_null()), "{report:#}");
    assert_eq!(report["complete"], true);
    // When it has ended, they have.
    for pid in loads.into_iter().chain([own, daemon]) {
        assert!(is_gone(pid), "{pid:?}");
    }
}

#[test]
fn nothing_is_left_of_the_loads_after_sigkill() {
    let _one = one_at_a_time();
    let place = tempfile::tempdir().expect("a directory");
    let mut child = start(&["--load", "cpu,fork,io", "--load", &noise(place.path())]);
    let (own, daemon) = (id(place.path().join("own")), id(place.path().join("daemon")));
    let loads = children(child.id());
    kill_process(pid(&child), Signal::KILL).expect("a signal");
    child.wait().expect("it is gone");
    for pid in loads.into_iter().chain([own, daemon]) {
        wait_until("the loads to end", || is_gone(pid));
    }
}

#[test]
fn phases_are_measured_in_one_run_and_a_deadline_is_judged() {
    let _one = one_at_a_time();
    let arguments =
        ["measure", "-l", "100", "--no-trace", "--json", "--phases", "idle,stress", "--load", "cpu"];
    let run = whylate(arguments.iter().chain(&["--load-cpus", "0", "--deadline", "1h"]));
    let document = measurement(&run);
    let phases = list(&document["phases"]);
    let names: Vec<&str> = phases.iter().filter_map(|phase| phase["phase"].as_str()).collect();
    assert_eq!(names, ["idle", "stress"]);
    assert_eq!(list(&phases[0]["loads"]), [] as [Value; 0]);
    assert_eq!(list(&phases[1]["loads"]), ["cpu"]);
    let samples = |value: &Value| value.as_u64().unwrap_or_default();
    let deadline = &document["deadline"];
    assert_eq!(
        samples(&deadline["samples"]),
        phases.iter().map(|phase| samples(&phase["samples"])).sum::<u64>()
    );
    assert_eq!((&deadline["late"], &deadline["approach"]), (&0.into(), &"ordinary-kernel".into()));
    // Without a right to a real-time policy it cannot tell.
    assert_ne!(deadline["kept"], Value::Bool(false));
    for wrong in [&["--phases", "idle"][..], &["--phases", "idle,idle"], &["--load-cpus", "0", "-l", "1"]] {
        let run = whylate(["measure", "--no-trace"].iter().chain(wrong));
        assert_eq!(run.code, Some(2), "{wrong:?}: {run:#?}");
    }
}
