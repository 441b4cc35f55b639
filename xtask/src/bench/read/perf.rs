//! The same storm in perf's own format, beside `perf sched latency`.

use super::reader::{RUNS, Reader, Storm, describe, run_on_storm, table};
use crate::tools;
use anyhow::Result;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What perf sched needs, and whylate makes the best of.
const EVENTS: [&str; 3] = ["sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup"];

pub(super) fn compare(whylate: &Path, target: &Path, duration: Duration) -> Result<()> {
    if !tools::found("perf") {
        println!("perf is not installed: no perf.data to compare with");
        return Ok(());
    }
    let file = target.join("bench").join("storm.perf.data");
    record(&file, duration)?;
    let events = describe(whylate, &file)?.events;
    println!("{}: {events} events", file.display());
    let mut readers = [
        Reader::new("whylate explain", whylate, &["explain", "--json"], &file),
        Reader::new("perf sched latency", "perf", &["sched", "latency", "-i"], &file),
    ];
    for _ in 0..RUNS {
        for reader in &mut readers {
            reader.read()?;
        }
    }
    print!("{}", table(events, &readers));
    Ok(())
}

fn record(file: &Path, duration: Duration) -> Result<()> {
    let mut recorder = Command::new("perf");
    recorder.args(["record", "-q", "-a", "-m", "16M", "-o"]).arg(file);
    for event in EVENTS {
        recorder.args(["-e", event]);
    }
    run_on_storm(&mut recorder, duration, Storm::Answering)
}
