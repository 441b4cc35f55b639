//! `bench read`: a large recording, explained by whylate and read by its peers, turn about.

mod perf;
mod reader;

use crate::tools;
use anyhow::{Context, Result, bail};
use clap::Args;
use reader::{PEER, RUNS, Reader, Recording, Storm, describe, run_on_storm, table};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

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

impl Read {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        let whylate = crate::release::whylate(root, &[])?;
        match &self.file {
            Some(file) => self.compare(&whylate, file, &describe(&whylate, file)?),
            None => {
                for &events in &self.events {
                    for storm in [Storm::Answering, Storm::AllFifo] {
                        let (file, recording) = record(&whylate, root, events, storm)?;
                        self.compare(&whylate, &file, &recording)?;
                    }
                }
                let seconds = Duration::from_secs(2);
                if self.alone { Ok(()) } else { perf::compare(&whylate, &crate::root::target(root), seconds) }
            }
        }
    }

    fn compare(&self, whylate: &Path, file: &Path, recording: &Recording) -> Result<()> {
        let size = fs::metadata(file).with_context(|| format!("{} cannot be read", file.display()))?.len();
        println!(
            "{}: {} events, {} lost, {:.1} MB; {} activations",
            file.display(),
            recording.events,
            recording.lost,
            size as f64 / 1e6,
            recording.activations
        );
        // With no thread to explain it exits with 3.
        let none = ["explain", "--json", "--task", "no-such-thread"];
        let mut readers = vec![
            Reader::new("cat > /dev/null", "cat", &[], file),
            Reader::new("whylate explain", whylate, &["explain", "--json"], file),
            Reader::new("whylate explain, no thread", whylate, &none, file).ending_with(3),
        ];
        if !self.alone {
            match tools::found("trace-cmd") {
                true => readers.push(Reader::new(PEER, "trace-cmd", &["report"], file)),
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

/// Records a storm for as long as the wanted number takes by the rate of one second.
fn record(whylate: &Path, root: &Path, events: u64, storm: Storm) -> Result<(PathBuf, Recording)> {
    let directory = crate::root::target(root).join("bench");
    fs::create_dir_all(&directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let file = directory.join(storm.file_name());
    let second = record_storm(whylate, &file, Duration::from_secs(1), storm)?;
    let duration = duration_for(events, second.events)?;
    let recording = record_storm(whylate, &file, duration, storm)?;
    Ok((file, recording))
}

fn duration_for(wanted: u64, per_second: u64) -> Result<Duration> {
    if per_second == 0 {
        bail!("one second of context switches recorded no event: try `whylate record` by hand");
    }
    let seconds = wanted as f64 / per_second as f64;
    Ok(Duration::from_secs_f64(seconds.clamp(1.0, LONGEST.as_secs_f64())))
}

fn record_storm(whylate: &Path, file: &Path, duration: Duration, storm: Storm) -> Result<Recording> {
    let mut recorder = Command::new(whylate);
    run_on_storm(recorder.arg("record").arg("-o").arg(file).args(["--buffer", "131072"]), duration, storm)?;
    describe(whylate, file)
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
}
