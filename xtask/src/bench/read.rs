//! `bench read`: a large recording, explained by whylate and read by its peers, turn about.

mod perf;

use super::process::{self, Usage};
use crate::tools;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often each program reads the file.
const RUNS: usize = 3;

/// The longest the storm may blow, whatever number of events was asked for.
const LONGEST: Duration = Duration::from_secs(120);

#[derive(Args)]
pub(crate) struct Read {
    /// How many events to record, about; more than one number makes a recording of each size
    #[arg(long, value_delimiter = ',', default_value = "5000000")]
    events: Vec<u64>,
    /// Read this recording rather than make one
    #[arg(long)]
    file: Option<PathBuf>,
    /// Another reader of trace.dat to time, run as `PROGRAM FILE` (repeatable)
    #[arg(long)]
    peer: Vec<PathBuf>,
    /// Leave the peers out: growth with size alone
    #[arg(long)]
    alone: bool,
}

/// A recording, as `whylate explain --json` describes it.
#[derive(Debug, PartialEq, Eq)]
struct Recording {
    events: u64,
    lost: u64,
}

impl Read {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        let whylate = crate::release::whylate(root, &[])?;
        match &self.file {
            Some(file) => self.compare(&whylate, file, &describe(&whylate, file)?),
            None => {
                for &events in &self.events {
                    let (file, recording) = record(&whylate, root, events)?;
                    self.compare(&whylate, &file, &recording)?;
                }
                let seconds = Duration::from_secs(2);
                if self.alone { Ok(()) } else { perf::compare(&whylate, &crate::root::target(root), seconds) }
            }
        }
    }

    fn compare(&self, whylate: &Path, file: &Path, recording: &Recording) -> Result<()> {
        let size = fs::metadata(file).with_context(|| format!("{} cannot be read", file.display()))?.len();
        println!(
            "{}: {} events, {} lost, {:.1} MB",
            file.display(),
            recording.events,
            recording.lost,
            size as f64 / 1e6
        );
        let mut readers = vec![
            Reader::new("cat > /dev/null", "cat", &[], file),
            Reader::new("whylate explain", whylate, &["explain", "--json"], file),
        ];
        if !self.alone {
            match tools::found("trace-cmd") {
                true => readers.push(Reader::new("trace-cmd report", "trace-cmd", &["report"], file)),
                false => println!("trace-cmd is not installed: nothing to compare with"),
            }
            readers
                .extend(self.peer.iter().map(|peer| Reader::new(&peer.to_string_lossy(), peer, &[], file)));
        }
        for _ in 0..RUNS {
            for reader in &mut readers {
                reader.read()?;
            }
        }
        print!("{}", table(recording.events, &readers));
        Ok(())
    }
}

/// A program that reads a recording, and what its runs used.
struct Reader {
    name: String,
    command: Command,
    runs: Vec<Usage>,
}

impl Reader {
    fn new(name: &str, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str], file: &Path) -> Reader {
        let mut command = Command::new(program);
        command.args(arguments).arg(file);
        Reader { name: name.to_owned(), command, runs: Vec::new() }
    }

    fn read(&mut self) -> Result<()> {
        self.runs.push(process::run(&mut self.command)?);
        Ok(())
    }
}

/// Records a storm for as long as one second's worth says that the wanted number takes.
fn record(whylate: &Path, root: &Path, events: u64) -> Result<(PathBuf, Recording)> {
    let directory = crate::root::target(root).join("bench");
    fs::create_dir_all(&directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let file = directory.join("storm.dat");
    let second = record_storm(whylate, &file, Duration::from_secs(1))?;
    let duration = duration_for(events, second.events)?;
    let recording = record_storm(whylate, &file, duration)?;
    Ok((file, recording))
}

fn duration_for(wanted: u64, per_second: u64) -> Result<Duration> {
    if per_second == 0 {
        bail!("one second of context switches recorded no event: try `whylate record` by hand");
    }
    let seconds = wanted as f64 / per_second as f64;
    Ok(Duration::from_secs_f64(seconds.clamp(1.0, LONGEST.as_secs_f64())))
}

fn record_storm(whylate: &Path, file: &Path, duration: Duration) -> Result<Recording> {
    let mut recorder = Command::new(whylate);
    run_on_storm(recorder.arg("record").arg("-o").arg(file).args(["--buffer", "32768"]), duration)?;
    describe(whylate, file)
}

/// Runs a recorder with the storm as the command that it records.
fn run_on_storm(recorder: &mut Command, duration: Duration) -> Result<()> {
    let name = recorder.get_program().to_string_lossy().into_owned();
    let storm = std::env::current_exe().context("this program's own path is not known")?;
    let status = recorder
        .arg("--")
        .arg(storm)
        .args(["bench", "storm", "--ms"])
        .arg(duration.as_millis().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("{name} could not be started"))?;
    if !status.success() {
        bail!("{name} record failed: {status}");
    }
    Ok(())
}

fn describe(whylate: &Path, file: &Path) -> Result<Recording> {
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
    Some(Recording { events: trace["events"].as_u64()?, lost: trace["lost_events"].as_u64()? })
}

fn table(events: u64, readers: &[Reader]) -> String {
    let mut text =
        format!("{:<24} {:>9} {:>9} {:>12} {:>9}\n", "", "median s", "CPU s", "events/s", "peak MiB");
    for reader in readers {
        if let Some(run) = process::median(&reader.runs) {
            let seconds = run.time.as_secs_f64();
            let (cpu, rate) = (run.cpu.as_secs_f64(), events as f64 / seconds.max(1e-9));
            let peak = run.peak_kib as f64 / 1024.0;
            text += &format!("{:<24} {seconds:>9.3} {cpu:>9.3} {rate:>12.0} {peak:>9.1}\n", reader.name);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_duration_follows_the_rate_and_is_bounded() {
        assert_eq!(duration_for(5_000_000, 1_000_000).expect("a duration"), Duration::from_secs(5));
        assert_eq!(duration_for(10, 1_000_000).expect("a duration"), Duration::from_secs(1));
        assert_eq!(duration_for(u64::MAX, 1).expect("a duration"), LONGEST);
        assert!(duration_for(1, 0).is_err());
    }

    #[test]
    fn the_counts_are_the_trace_s() {
        let report = serde_json::json!({"trace": {"events": 7, "lost_events": 2}});
        assert_eq!(counts(&report), Some(Recording { events: 7, lost: 2 }));
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
        let text = table(1_000_000, &[ran, not]);
        assert!(text.contains("2000000") && text.contains("1.000") && !text.contains("theirs"), "{text}");
    }
}
