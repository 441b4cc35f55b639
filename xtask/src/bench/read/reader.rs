//! A program that reads a recording: its runs, side by side, and the recording that it reads.

use crate::bench::process::{self, Usage};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often each program reads the file.
pub(super) const RUNS: usize = 3;

/// The reader that the others are compared with.
pub(super) const PEER: &str = "trace-cmd report";

/// A recording, as `whylate explain --json` describes it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Recording {
    pub(super) events: u64,
    pub(super) lost: u64,
    /// Of all threads that are explained.
    pub(super) activations: u64,
}

/// What the threads of a storm do (`bench storm`).
#[derive(Clone, Copy)]
pub(super) enum Storm {
    /// A FIFO thread answers a SCHED_OTHER one: an activation for each dozen events.
    Answering,
    /// Two FIFO threads of one priority answer each other: an activation for about every 8 events.
    AllFifo,
}

impl Storm {
    pub(super) fn file_name(self) -> &'static str {
        match self {
            Storm::Answering => "storm.dat",
            Storm::AllFifo => "storm-all-fifo.dat",
        }
    }
}

/// A program that reads a recording, and what its runs used.
pub(super) struct Reader {
    name: String,
    command: Command,
    /// The exit codes that are no failure.
    codes: Vec<i32>,
    runs: Vec<Usage>,
}

impl Reader {
    pub(super) fn new(
        name: &str,
        program: impl AsRef<std::ffi::OsStr>,
        arguments: &[&str],
        file: &Path,
    ) -> Reader {
        let mut command = Command::new(program);
        command.args(arguments).arg(file);
        Reader { name: name.to_owned(), command, codes: vec![0, 1], runs: Vec::new() }
    }

    /// The same, where the program exits with another code.
    pub(super) fn ending_with(mut self, code: i32) -> Reader {
        self.codes = vec![code];
        self
    }

    pub(super) fn read(&mut self) -> Result<()> {
        self.runs.push(process::run_ending(&mut self.command, &self.codes)?);
        Ok(())
    }
}

/// Runs a recorder with the storm as the command that it records.
pub(super) fn run_on_storm(recorder: &mut Command, duration: Duration, storm: Storm) -> Result<()> {
    let name = recorder.get_program().to_string_lossy().into_owned();
    let program = std::env::current_exe().context("this program's own path is not known")?;
    let all_fifo = matches!(storm, Storm::AllFifo).then_some("--all-fifo");
    let status = recorder
        .arg("--")
        .arg(program)
        .args(["bench", "storm", "--ms"])
        .arg(duration.as_millis().to_string())
        .args(all_fifo)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("{name} could not be started"))?;
    if !status.success() {
        bail!("{name} record failed: {status}");
    }
    Ok(())
}

pub(super) fn describe(whylate: &Path, file: &Path) -> Result<Recording> {
    let output = Command::new(whylate)
        .arg("explain")
        .arg(file)
        .arg("--json")
        .stderr(Stdio::inherit())
        .output()
        .context("whylate could not be started")?;
    let report = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("whylate explain {} --json gave no JSON", file.display()))?;
    counts(&report).context("the report has no trace.events and trace.lost_events")
}

fn counts(report: &Value) -> Option<Recording> {
    let trace = &report["trace"];
    let tasks = report["tasks"].as_array()?;
    Some(Recording {
        events: trace["events"].as_u64()?,
        lost: trace["lost_events"].as_u64()?,
        activations: tasks.iter().filter_map(|task| task["activations"].as_u64()).sum(),
    })
}

pub(super) fn table(events: u64, readers: &[Reader]) -> String {
    let peer = readers.iter().find(|reader| reader.name == PEER).and_then(|peer| process::median(&peer.runs));
    let mut text = format!(
        "{:<28} {:>9} {:>9} {:>12} {:>9} {:>12}\n",
        "", "median s", "CPU s", "events/s", "peak MiB", "of trace-cmd"
    );
    for reader in readers {
        if let Some(run) = process::median(&reader.runs) {
            let seconds = run.time.as_secs_f64();
            let (cpu, rate) = (run.cpu.as_secs_f64(), events as f64 / seconds.max(1e-9));
            let peak = run.peak_kib as f64 / 1024.0;
            let ratio = peer.map(|peer| format!("{:.1} x", peer.time.as_secs_f64() / seconds.max(1e-9)));
            text += &format!(
                "{:<28} {seconds:>9.3} {cpu:>9.3} {rate:>12.0} {peak:>9.1} {:>12}\n",
                reader.name,
                ratio.unwrap_or_default()
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_are_the_trace_s() {
        let tasks = [serde_json::json!({"activations": 3}), serde_json::json!({"activations": 4})];
        let report = serde_json::json!({"trace": {"events": 7, "lost_events": 2}, "tasks": tasks});
        assert_eq!(counts(&report), Some(Recording { events: 7, lost: 2, activations: 7 }));
        assert_eq!(counts(&serde_json::json!({})), None);
    }

    #[test]
    fn the_table_has_a_line_for_each_reader_that_ran() {
        let run = |ms: u64| Usage {
            time: Duration::from_millis(ms),
            cpu: Duration::from_millis(2 * ms),
            peak_kib: 2048,
        };
        let mut ran = Reader::new("ours", "true", &[], Path::new("x"));
        ran.runs = vec![run(500)];
        let not = Reader::new("theirs", "true", &[], Path::new("x"));
        let mut peer = Reader::new(PEER, "true", &[], Path::new("x"));
        peer.runs = vec![run(20_000)];
        let text = table(1_000_000, &[ran, not, peer]);
        assert!(text.contains("2000000") && text.contains("1.000") && !text.contains("theirs"), "{text}");
        assert!(text.contains("40.0 x"), "{text}");
    }
}
