//! The events that are recorded: how many, of which CPUs, and functions.

use super::{events_reported, explained, files, place, record};
use crate::support::answer::{list, number};
use crate::support::run::whylate;
use crate::support::tracefs::Tracefs;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use whylate_testing::{Need, skip};

/// Debian's kernels trace functions in an instance; others refuse, with the reason, and leave no file.
#[test]
fn functions_are_recorded_or_refused_with_the_reason() {
    let Some(tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let before = tracefs.settings();
    let run = record(&file, &["--functions=tick_*", "--duration", "300ms"]);
    assert_eq!(tracefs.settings(), before);
    match run.code {
        Some(0) => assert!(events_reported(&run) > 0, "{run:#?}"),
        code => {
            assert_eq!(code, Some(2), "{run:#?}");
            assert!(run.stderr.contains("--functions: ") && run.stderr.contains("leave it out"), "{run:#?}");
            assert_eq!(files(&directory), [] as [String; 0]);
        }
    }
    let run = record(&file, &["--functions=no_such_function_of_a_kernel", "--duration", "300ms"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("--functions: "), "{run:#?}");
}

#[test]
fn trace_cmd_reads_as_many_events() {
    let Some(_tracefs) = Tracefs::open() else { return };
    if !whylate_testing::has_program("trace-cmd") {
        return;
    }
    let (_directory, file) = place();
    let run = record(&file, &["--duration", "200ms", "-e", "timer:timer_start"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let listed =
        Command::new("trace-cmd").args(["report", "-N", "-i"]).arg(&file).output().expect("trace-cmd");
    let text = String::from_utf8_lossy(&listed.stdout);
    let is_event = |line: &&str| line.contains("] ") && !line.contains("EVENTS DROPPED]");
    let events = i64::try_from(text.lines().filter(is_event).count()).expect("a count");
    assert_eq!(events, events_reported(&run), "{}", String::from_utf8_lossy(&listed.stderr));
    assert_eq!(events, number(&explained(&file)["trace"]["events"]));
    assert!(text.contains(" timer_start:"), "the event that was asked for");
}

/// The CPUs with events, and those with markers, by `whylate convert`.
fn cpus_with_events(file: &Path) -> (Vec<i64>, Vec<i64>) {
    let lines = file.with_extension("jsonl");
    let run = whylate([OsStr::new("convert"), file.as_os_str(), lines.as_os_str()]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let text = fs::read_to_string(&lines).expect("the events");
    let (mut events, mut markers) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let cpus = if event["event"] == "print" { &mut markers } else { &mut events };
        cpus.extend(event["cpu"].as_i64());
    }
    for cpus in [&mut events, &mut markers] {
        cpus.sort_unstable();
        cpus.dedup();
    }
    (events, markers)
}

#[test]
fn only_the_cpus_that_were_asked_for_are_recorded() {
    let Some(tracefs) = Tracefs::open() else { return };
    let before = tracefs.settings();
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("a list");
    let online: whylate_base::CpuSet = online.trim().parse().expect("a list");
    if online.iter().count() < 2 {
        skip(Need::Machine, "a second CPU");
        return;
    }
    let chosen = online.iter().last().expect("a CPU").to_string();
    let (directory, file) = place();
    let run = record(
        &file,
        &["--cpus", &chosen, "--", "taskset", "-c", &chosen, "sh", "-c", "sleep 0.2; sleep 0.2"],
    );
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains(&format!("events of CPUs {chosen} in")), "{run:#?}");
    assert!(run.stderr.contains("cpus-not-recorded"), "{run:#?}");
    assert_eq!(tracefs.settings(), before);
    let answer = explained(&file);
    assert_eq!(number(&answer["trace"]["events"]), events_reported(&run));
    let findings = list(&answer["findings"]);
    assert!(findings.iter().any(|finding| finding["code"] == "cpus-not-recorded"), "{findings:#?}");
    let (events, markers) = cpus_with_events(&file);
    assert_eq!(events, [chosen.parse::<i64>().expect("a number")]);
    assert!(!markers.is_empty(), "the facts of the machine are in it");
    // A CPU that no machine has.
    fs::remove_file(&file).expect("removed");
    fs::remove_file(file.with_extension("jsonl")).expect("removed");
    let run = record(&file, &["--cpus", "0,8191", "-d", "1s"]);
    assert!(run.code == Some(2) && run.stderr.contains("has no CPU 8191"), "{run:#?}");
    assert!(run.stderr.contains(&format!("CPUs {online}, which are online")), "{run:#?}");
    assert!(files(&directory).is_empty());
}
