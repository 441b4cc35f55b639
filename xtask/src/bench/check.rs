//! `bench check`: how long `whylate check` takes, beside rtcqs and TuneD's verification, on this machine and on a
//! large one that is made up.

mod peers;
mod server;

use super::process::{self, Usage};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[derive(Args)]
pub(crate) struct Check {
    /// How often each program runs
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// CPUs of the machine that is made up
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=8192))]
    cpus: u32,
    /// Interrupts of the machine that is made up
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    irqs: u32,
}

/// One line of the table.
struct Row {
    name: String,
    runs: Vec<Usage>,
    /// What it answered, in its own terms.
    answers: String,
}

impl Check {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        let whylate = crate::release::whylate(root, &[])?;
        let directory = crate::root::target(root).join("bench");
        fs::create_dir_all(&directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        let server = directory.join(format!("server-{}-{}", self.cpus, self.irqs));
        server::make(&server, self.cpus, self.irqs)?;
        let archive = directory.join("server.snapshot");
        let taken = Command::new(&whylate)
            .args(["snapshot", "--root"])
            .arg(&server)
            .arg("-o")
            .arg(&archive)
            .stderr(Stdio::null())
            .status()
            .context("whylate could not be started")?;
        if !taken.success() {
            bail!("whylate snapshot failed: {taken}");
        }

        let named = format!("{} CPUs, {} interrupts", self.cpus, self.irqs);
        // The last CPU stands for the isolated ones: TuneD's profile verifies nothing without any.
        let last = std::thread::available_parallelism().map_or(0, |cpus| cpus.get() - 1).to_string();
        let (server, archive) = (server.as_os_str(), archive.as_os_str());
        let root = OsStr::new("--root");
        let mut rows = vec![
            self.ours(&whylate, "whylate check", &[])?,
            self.ours(
                &whylate,
                &format!("  --profile realtime --cpus {last}"),
                &["--profile", "realtime", "--cpus", &last].map(OsStr::new),
            )?,
            self.ours(&whylate, &format!("  {named}, directory"), &[root, server])?,
            self.ours(&whylate, &format!("  {named}, snapshot"), &[root, archive])?,
        ];
        let mut missing = Vec::new();
        for peer in [peers::rtcqs(&directory), peers::tuned(&directory, &last)] {
            match peer.and_then(|peer| self.theirs(&peer)) {
                Ok(row) => rows.push(row),
                Err(why) => missing.push(format!("{why:#}")),
            }
        }
        print!("{}", table(&rows));
        missing.iter().for_each(|why| println!("not compared: {why}"));
        Ok(())
    }

    /// Ends with 0, 1 or 3: done, found, cannot tell.
    fn ours(&self, whylate: &Path, name: &str, arguments: &[&OsStr]) -> Result<Row> {
        let command = || {
            let mut command = Command::new(whylate);
            command.args(["check", "--json"]).args(arguments);
            command
        };
        let output = command().output().context("whylate could not be started")?;
        let report: Value =
            serde_json::from_slice(&output.stdout).context("whylate check --json gave no JSON")?;
        let answers = totals(&report).context("the report has no totals")?;
        let runs = (0..self.rounds).map(|_| process::run_ending(&mut command(), &[0, 1, 3]));
        Ok(Row { name: name.to_owned(), runs: runs.collect::<Result<_>>()?, answers })
    }

    fn theirs(&self, peer: &peers::Peer) -> Result<Row> {
        let output =
            peer.command().output().with_context(|| format!("{} could not be started", peer.name))?;
        let answers = peer.answers(&output)?;
        // Its exit code shows little: rtcqs ends with 1 where it met what it did not expect.
        let runs = (0..self.rounds).map(|_| process::run_ending(&mut peer.command(), &[0, 1]));
        Ok(Row { name: peer.name.clone(), runs: runs.collect::<Result<_>>()?, answers })
    }
}

fn totals(report: &Value) -> Option<String> {
    let totals = &report["totals"];
    let count = |name: &str| totals[name].as_u64();
    Some(format!(
        "{} pass, {} fail, {} cannot tell, {} do not apply",
        count("pass")?,
        count("fail")?,
        count("cannot_tell")?,
        count("not_applicable")?
    ))
}

fn table(rows: &[Row]) -> String {
    let mut text =
        format!("{:<44} {:>9} {:>8} {:>9}  {}\n", "", "median ms", "worst ms", "peak MiB", "answers");
    for row in rows {
        let Some(median) = process::median(&row.runs) else { continue };
        let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        let worst = row.runs.iter().map(|run| run.time).max().map_or(0.0, ms);
        text += &format!(
            "{:<44} {:>9.1} {worst:>8.1} {:>9.1}  {}\n",
            row.name,
            ms(median.time),
            median.peak_kib as f64 / 1024.0,
            row.answers
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_row_has_the_median_and_the_worst() {
        let run = |ms: u64| Usage { time: Duration::from_millis(ms), cpu: Duration::ZERO, peak_kib: 2048 };
        let row = Row { name: "x".into(), runs: vec![run(30), run(10), run(20)], answers: "y".into() };
        let text = table(&[row, Row { name: "none".into(), runs: vec![], answers: String::new() }]);
        let words: Vec<&str> = text.lines().nth(1).expect("a row").split_whitespace().collect();
        assert_eq!(words, ["x", "20.0", "30.0", "2.0", "y"]);
        assert!(!text.contains("none"));
    }

    #[test]
    fn totals_are_the_report_s() {
        let report =
            serde_json::json!({"totals": {"pass": 1, "fail": 2, "cannot_tell": 3, "not_applicable": 4}});
        assert_eq!(totals(&report).as_deref(), Some("1 pass, 2 fail, 3 cannot tell, 4 do not apply"));
        assert_eq!(totals(&serde_json::json!({})), None);
    }
}
