//! `whylate record` on this machine: what it writes, what it prints, and that it leaves nothing
//! behind however it ends. Needs root and tracefs; reports that and passes where there is neither.

mod call_stacks;
mod command;
mod events;
mod file;
mod refusals;
mod signals;
mod static_probes;

use crate::support::answer::{answer, list};
use crate::support::run::{Run, command, whylate};
use crate::support::tracefs::Tracefs;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A new directory, and the path of a recording in it.
fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.dat");
    (directory, path)
}

/// `whylate record -o FILE ARGUMENTS`, to its end.
fn record(file: &Path, arguments: &[&str]) -> Run {
    let start = [OsStr::new("record"), OsStr::new("-o"), file.as_os_str()];
    whylate(start.into_iter().chain(arguments.iter().map(OsStr::new)))
}

/// The number in `...: N events of ...`.
fn events_reported(run: &Run) -> i64 {
    let before = run.stderr.split(" events of ").next().unwrap_or_default();
    let number = before.rsplit(' ').next().and_then(|number| number.replace(',', "").parse().ok());
    number.unwrap_or_else(|| panic!("no number of events in {}", run.stderr))
}

/// The recording as `whylate explain` reads it: undamaged.
fn explained(file: &Path) -> serde_json::Value {
    let run = whylate([OsStr::new("explain"), OsStr::new("--json"), file.as_os_str()]);
    assert!(matches!(run.code, Some(0 | 1 | 3)), "{run:#?}");
    let answer = answer(&run.stdout);
    assert_eq!(list(&answer["trace"]["damage"]), [] as [serde_json::Value; 0]);
    answer
}

/// Only these are in the directory.
fn files(directory: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(directory.path()).expect("list");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Starts a recording that something else must end, and waits until it traces.
fn start(tracefs: &Tracefs, arguments: &[&OsStr]) -> Child {
    let mut command = command();
    command.arg("record").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let started = Instant::now();
    while !tracefs.traces(child.id()) {
        let ended = child.try_wait().expect("a state");
        if ended.is_some() || started.elapsed() > Duration::from_secs(30) {
            let _ = child.kill();
            panic!("it does not trace: {:#?}", child.wait_with_output());
        }
        thread::sleep(Duration::from_millis(5));
    }
    child
}
