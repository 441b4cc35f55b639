//! Recordings that a signal ends, and what a kill leaves.

use super::{events_reported, explained, files, place, record, start};
use crate::support::answer::number;
use crate::support::run::ended;
use crate::support::tracefs::Tracefs;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("a signal");
}

#[test]
fn signals_end_it_and_what_was_recorded_is_kept() {
    let Some(tracefs) = Tracefs::open() else { return };
    for which in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (directory, file) = place();
        let before = tracefs.settings();
        let child = start(&tracefs, &[OsStr::new("-o"), file.as_os_str()]);
        let pid = child.id();
        thread::sleep(Duration::from_millis(200));
        signal(&child, which);
        let run = ended(child.wait_with_output().expect("ends"));
        assert_eq!(run.code, Some(0), "{which:?}: {run:#?}");
        assert_eq!(tracefs.instances(pid), [] as [PathBuf; 0], "{which:?}");
        assert_eq!(tracefs.settings(), before, "{which:?}");
        assert_eq!(files(&directory), ["a.dat"], "{which:?}");
        let recorded = number(&explained(&file)["trace"]["events"]);
        assert!(recorded > 0 && recorded == events_reported(&run), "{which:?}: {recorded}");
    }
}

/// The command does not outlive the recording that started it.
#[test]
fn a_signal_ends_the_command_as_well() {
    let Some(tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let written = directory.path().join("pid");
    let script = format!("echo $$ > '{}'; exec sleep 60", written.display());
    let arguments: Vec<&OsStr> = ["--", "sh", "-c", &script].into_iter().map(OsStr::new).collect();
    let child = start(&tracefs, &[&[OsStr::new("-o"), file.as_os_str()][..], &arguments].concat());
    let started = Instant::now();
    let sleeper = loop {
        if let Ok(pid) = fs::read_to_string(&written).unwrap_or_default().trim().parse::<i32>() {
            break Pid::from_raw(pid).expect("a process");
        }
        assert!(started.elapsed() < Duration::from_secs(30), "the command never ran");
        thread::sleep(Duration::from_millis(5));
    };
    signal(&child, Signal::INT);
    let run = ended(child.wait_with_output().expect("ends"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(rustix::process::test_kill_process(sleeper).is_err(), "the command still runs");
    explained(&file);
}

/// What a service manager sends reaches us alone: the command is signalled before the recording is
/// written. It ends by itself as soon as it sees the recording.
#[test]
fn the_command_gets_a_signal_at_once() {
    let Some(tracefs) = Tracefs::open() else { return };
    for which in [Signal::TERM, Signal::HUP] {
        let (directory, file) = place();
        let [started, trapped] = ["started", "told"].map(|name| directory.path().join(name));
        let script = format!(
            "trap 'echo yes > {1}; exit' TERM; echo > {0}; while ! [ -e {2} ]; do sleep 0.02; done; echo no > {1}",
            started.display(),
            trapped.display(),
            file.display(),
        );
        let arguments: Vec<&OsStr> = ["--", "sh", "-c", &script].into_iter().map(OsStr::new).collect();
        let child = start(&tracefs, &[&[OsStr::new("-o"), file.as_os_str()][..], &arguments].concat());
        let since = Instant::now();
        while !started.exists() {
            assert!(since.elapsed() < Duration::from_secs(30), "the command never ran");
            thread::sleep(Duration::from_millis(5));
        }
        signal(&child, which);
        let run = ended(child.wait_with_output().expect("ends"));
        assert_eq!(run.code, Some(0), "{which:?}: {run:#?}");
        assert_eq!(fs::read_to_string(&trapped).expect("it ended"), "yes\n", "{which:?}");
        explained(&file);
    }
}

#[test]
fn what_a_kill_leaves_the_next_recording_removes() {
    let Some(tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let before = tracefs.settings();
    let mut child = start(&tracefs, &[OsStr::new("-o"), file.as_os_str()]);
    child.kill().expect("killed");
    child.wait().expect("ends");
    assert_eq!(tracefs.settings(), before);
    assert_eq!(files(&directory), [] as [&str; 0], "no half recording");
    // Unless another recording on this machine has been quicker.
    println!("left: {:?}", tracefs.instances(child.id()));
    let run = record(&file, &["--", "true"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(tracefs.instances(child.id()), [] as [PathBuf; 0]);
    explained(&file);
}
