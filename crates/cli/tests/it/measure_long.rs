//! Long runs: what is on disk while they go on, and after they were killed; claims, and what the observer changes.

use crate::support::answer::{list, number};
use crate::support::run::{command, ended, whylate};
use crate::support::tracefs::one_at_a_time;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use whylate_testing::Need;

const PATIENCE: Duration = Duration::from_secs(60);

fn journal(directory: &Path) -> Option<Value> {
    let text = fs::read_to_string(directory.join("run.json")).ok()?;
    // Whenever it is looked at, it is whole.
    Some(serde_json::from_str(&text).expect("a whole document"))
}

#[test]
fn what_was_measured_before_sigkill_is_readable() {
    let _one = one_at_a_time();
    let place = tempfile::tempdir().expect("a directory");
    let run = place.path().join("run");
    let mut command = command();
    command.args([OsStr::new("measure"), OsStr::new("-d"), OsStr::new("1h"), OsStr::new("--keep")]).arg(&run);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let started = Instant::now();
    while journal(&run).is_none() {
        assert!(started.elapsed() < PATIENCE, "no journal");
        thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), Signal::KILL).expect("a signal");
    child.wait().expect("it is gone");
    let document = journal(&run).expect("the journal");
    assert_eq!((&document["schema"], &document["complete"]), (&"whylate.measure/1".into(), &false.into()));
    assert!(!list(&document["cpus"]).is_empty());
    // The first one is written at once: it has CPUs, and maybe not a sample yet.
    let path = run.join("run.json");
    let again = whylate([
        OsStr::new("measure"),
        OsStr::new("-d"),
        OsStr::new("1s"),
        OsStr::new("--keep"),
        run.as_os_str(),
    ]);
    assert_eq!(again.code, Some(2), "another run is not written over: {again:#?}");
    assert!(again.stderr.contains("an earlier run") && path.exists(), "{again:#?}");
}

#[test]
fn a_kept_run_has_its_traces_which_explain_opens() {
    let _one = one_at_a_time();
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    let run = command()
        .args(["measure", "-d", "1s", "--json", "--buffer", "8192", "--worst", "3", "--keep"])
        .arg(&directory)
        .output()
        .map(ended)
        .expect("starts");
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let kept = journal(&directory).expect("the journal");
    assert_eq!(kept, document, "the last journal is the report");
    assert_eq!(kept["complete"], true);
    let groups: i64 = list(&document["groups"]).iter().map(|group| number(&group["count"])).sum();
    assert_eq!(groups as usize, list(&document["spikes"]).len(), "without a threshold, those listed");
    if document["trace"]["state"] != "recorded" {
        whylate_testing::skip(Need::Tracefs, format_args!("in part: {}", document["trace"]));
        return;
    }
    for spike in list(&document["spikes"]) {
        let Some(name) = spike["saved_as"].as_str() else {
            assert_eq!(spike["not_explained"]["reason"], "overwritten", "{spike:#}");
            continue;
        };
        let explained =
            whylate([OsStr::new("explain"), OsStr::new("--json"), directory.join(name).as_os_str()]);
        let answer: Value =
            serde_json::from_str(&explained.stdout).unwrap_or_else(|_| panic!("{explained:#?}"));
        assert_eq!(list(&answer["trace"]["damage"]), [] as [Value; 0]);
        if spike["activation"].is_null() {
            continue;
        }
        let same = |activation: &&Value| {
            activation["tid"] == spike["tid"] && activation["due_ns"] == spike["activation"]["due_ns"]
        };
        assert!(list(&answer["activations"]).iter().any(|activation| same(&activation)), "{name}: {spike:#}");
    }
}

#[test]
fn a_full_disk_is_reported_and_measuring_goes_on() {
    let _one = one_at_a_time();
    let place = tempfile::tempdir().expect("a directory");
    // In a mount namespace of its own: nothing is left mounted, and no other process sees it.
    let script = format!(
        "mount -t tmpfs -o size=16k none {0} && exec {1} measure -d 1500ms --worst 20 --keep {0}/run",
        place.path().display(),
        env!("CARGO_BIN_EXE_whylate"),
    );
    let output =
        Command::new("unshare").args(["--mount", "--propagation", "private", "sh", "-c", &script]).output();
    let run = match output.map(ended) {
        Ok(run) if !run.stderr.contains("unshare:") && !run.stderr.contains("mount:") => run,
        other => {
            return whylate_testing::skip(
                Need::Root,
                format_args!("no mount namespace for this user: {other:?}"),
            );
        }
    };
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    assert!(run.stdout.contains("saving failed"), "{run:#?}");
    assert_eq!(run.stderr.matches("cannot save").count(), 1, "reported once: {run:#?}");
}

#[test]
fn claims_are_answered() {
    let _one = one_at_a_time();
    let measure = |claim: &str| {
        let run = whylate(["measure", "-d", "300ms", "--no-trace", "--json", "--claim", claim]);
        let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let claim = document["beyond"]["claim"].clone();
        // 0 carried, 1 contradicted, 3 cannot tell; a finding of the measurement is 1 in any case.
        let code = match claim["answer"].as_str() {
            Some("measured" | "fitted") => 0,
            Some("contradicted") => 1,
            _ => 3,
        };
        assert!(run.code == Some(code) || run.code == Some(1), "{run:#?}");
        claim
    };
    assert_eq!(measure("1ns@1e-9")["answer"], "contradicted");
    assert_eq!(measure("17s@0.5")["answer"], "measured");
    let claim = measure("17s@1e-9");
    assert!(claim["answer"] == "not-yet" || claim["answer"] == "needs-assumption", "{claim:#}");
    assert!(number(&claim["longer_ns"]) > 0, "{claim:#}");
    let run = whylate(["measure", "--claim", "100us"]);
    assert!(run.code == Some(2) && run.stderr.contains("LATENCY@PROBABILITY"), "{run:#?}");
}

#[test]
fn the_observer_measures_itself_where_it_traced() {
    let _one = one_at_a_time();
    let run = whylate(["measure", "-d", "500ms", "--json", "--observer"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:#?}"));
    match document["trace"]["state"] == "recorded" {
        true => assert!(number(&document["observed"]["samples"]) > 0, "{}", document["observed"]),
        false => assert!(document["observed"].is_null()),
    }
}

#[test]
fn the_latency_request_is_reported_or_refused() {
    let _one = one_at_a_time();
    let run = whylate(["measure", "-d", "100ms", "--no-trace", "--dma-latency", "0"]);
    match Path::new("/dev/cpu_dma_latency").exists() && rustix::process::geteuid().is_root() {
        true => assert!(run.stdout.contains("was held at 0 us"), "{run:#?}"),
        false => assert!(run.code == Some(2) && run.stderr.contains("cpu_dma_latency"), "{run:#?}"),
    }
    let run = whylate(["measure", "-d", "100ms", "--no-trace", "--no-dma-latency"]);
    assert!(run.stdout.contains("was not held"), "{run:#?}");
}
