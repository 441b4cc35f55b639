//! `bench read`: a large recording, explained by whylate and printed by trace-cmd, turn about.

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
    /// How many events to record, about
    #[arg(long, default_value_t = 5_000_000)]
    events: u64,
    /// Read this recording rather than make one
    #[arg(long)]
    file: Option<PathBuf>,
}

/// A recording, as `whylate explain --json` describes it.
#[derive(Debug, PartialEq, Eq)]
struct Recording {
    events: u64,
    lost: u64,
}

impl Read {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        let whylate = super::whylate(root)?;
        let (file, recording) = match &self.file {
            Some(file) => (file.clone(), describe(&whylate, file)?),
            None => self.record(&whylate, root)?,
        };
        let size = fs::metadata(&file).with_context(|| format!("{} cannot be read", file.display()))?.len();
        println!(
            "{}: {} events, {} lost, {:.1} MB",
            file.display(),
            recording.events,
            recording.lost,
            size as f64 / 1e6
        );

        let with_trace_cmd = tools::found("trace-cmd");
        let mut ours = Vec::new();
        let mut theirs = Vec::new();
        for _ in 0..RUNS {
            ours.push(process::run(Command::new(&whylate).arg("explain").arg(&file).arg("--json"))?);
            if with_trace_cmd {
                theirs.push(process::run(Command::new("trace-cmd").arg("report").arg(&file))?);
            }
        }
        print!("{}", table(recording.events, &ours, &theirs));
        if !with_trace_cmd {
            println!("trace-cmd is not installed: nothing to compare with");
        }
        Ok(())
    }

    /// Records a storm for as long as one second's worth says that the wanted number takes.
    fn record(&self, whylate: &Path, root: &Path) -> Result<(PathBuf, Recording)> {
        let directory = super::target(root).join("bench");
        fs::create_dir_all(&directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        let file = directory.join("storm.dat");
        let second = record_storm(whylate, &file, Duration::from_secs(1))?;
        let duration = duration_for(self.events, second.events)?;
        let recording = record_storm(whylate, &file, duration)?;
        Ok((file, recording))
    }
}

fn duration_for(wanted: u64, per_second: u64) -> Result<Duration> {
    if per_second == 0 {
        bail!("one second of context switches recorded no event: try `whylate record` by hand");
    }
    let seconds = wanted as f64 / per_second as f64;
    Ok(Duration::from_secs_f64(seconds.clamp(1.0, LONGEST.as_secs_f64())))
}

fn record_storm(whylate: &Path, file: &Path, duration: Duration) -> Result<Recording> {
    let storm = std::env::current_exe().context("this program's own path is not known")?;
    let status = Command::new(whylate)
        .arg("record")
        .arg("-o")
        .arg(file)
        .args(["--buffer", "32768", "--"])
        .arg(storm)
        .args(["bench", "storm", "--ms"])
        .arg(duration.as_millis().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .context("whylate could not be started")?;
    if !status.success() {
        bail!("whylate record failed: {status}");
    }
    describe(whylate, file)
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

fn table(events: u64, ours: &[Usage], theirs: &[Usage]) -> String {
    let mut text = format!("{:<18} {:>9} {:>12} {:>9}\n", "", "median s", "events/s", "peak MiB");
    for (name, runs) in [("whylate explain", ours), ("trace-cmd report", theirs)] {
        if let Some(run) = process::median(runs) {
            let seconds = run.time.as_secs_f64();
            let rate = events as f64 / seconds.max(1e-9);
            let peak = run.peak_kib as f64 / 1024.0;
            text += &format!("{name:<18} {seconds:>9.3} {rate:>12.0} {peak:>9.1}\n");
        }
    }
    if let (Some(ours), Some(theirs)) = (process::median(ours), process::median(theirs)) {
        let ratio = theirs.time.as_secs_f64() / ours.time.as_secs_f64().max(1e-9);
        text += &format!("trace-cmd's time is {ratio:.1} times whylate's\n");
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
    fn the_table_has_rates_and_the_ratio_only_where_both_ran() {
        let run = |ms: u64| Usage { time: Duration::from_millis(ms), peak_kib: 2048 };
        let text = table(1_000_000, &[run(500)], &[run(2000)]);
        assert!(text.contains("2000000") && text.contains("500000"), "{text}");
        assert!(text.contains("trace-cmd's time is 4.0 times whylate's"), "{text}");
        assert!(!table(1_000_000, &[run(500)], &[]).contains("trace-cmd"));
    }
}
