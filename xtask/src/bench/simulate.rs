//! `bench simulate`: how long many simulated activations take, with their ledger, and whether memory grows with their number.

use super::process::{self, Usage};
use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const TASKS: &str = include_str!("simulate.toml");
/// Activations in a second of that task set, about.
const RATE: u64 = 8_667;
/// Runs of each length; the median counts.
const RUNS: usize = 3;

#[derive(Args)]
pub(crate) struct Simulate {
    /// About how many activations the longest run has; a tenth is run as well
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(100_000..=1_000_000_000))]
    activations: u64,
}

impl Simulate {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        let whylate = crate::release::whylate(root, &[])?;
        let directory = crate::root::target(root).join("bench");
        fs::create_dir_all(&directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        let (tasks, output) = (directory.join("simulate.toml"), directory.join("simulate.json"));
        fs::write(&tasks, TASKS).with_context(|| format!("{} cannot be written", tasks.display()))?;
        println!("{HEAD}");
        for wanted in [self.activations / 10, self.activations] {
            let mut runs = Vec::new();
            for _ in 0..RUNS {
                let mut command = Command::new(&whylate);
                command.arg("simulate").arg(&tasks).args(["-d", &format!("{}s", wanted.div_ceil(RATE))]);
                runs.push(process::run(command.arg("-o").arg(&output))?);
            }
            let text = fs::read_to_string(&output)
                .with_context(|| format!("{} cannot be read", output.display()))?;
            println!("{}", row(activations(&text)?, &mut runs));
        }
        Ok(())
    }
}

const HEAD: &str = "| activations | s | CPU s | activations/s | peak MiB |\n|--:|--:|--:|--:|--:|";

fn activations(text: &str) -> Result<u64> {
    let report: Value = serde_json::from_str(text).context("the report of `whylate simulate` is not JSON")?;
    let tasks = report["tasks"].as_array().context("the report of `whylate simulate` has no `tasks`")?;
    tasks.iter().map(|task| task["activations"].as_u64().context("a task without `activations`")).sum()
}

/// The run with the median time, and the largest peak of all.
fn row(activations: u64, runs: &mut [Usage]) -> String {
    runs.sort_by_key(|run| run.time);
    let Some(median) = runs.get(runs.len() / 2) else { return String::new() };
    let peak = runs.iter().map(|run| run.peak_kib).max().unwrap_or(0);
    let seconds = median.time.as_secs_f64();
    format!(
        "| {activations} | {seconds:.2} | {:.2} | {:.0} | {:.1} |",
        median.cpu.as_secs_f64(),
        activations as f64 / seconds,
        peak as f64 / 1024.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_row_has_the_median_and_the_largest_peak() {
        let usage = |ms, peak_kib| Usage {
            time: Duration::from_millis(ms),
            cpu: Duration::from_millis(ms / 2),
            peak_kib,
        };
        let mut runs = [usage(9000, 1024), usage(2000, 2048), usage(1000, 512)];
        assert_eq!(row(1_000_000, &mut runs), "| 1000000 | 2.00 | 1.00 | 500000 | 2.0 |");
    }

    #[test]
    fn activations_are_those_of_all_tasks() {
        assert_eq!(activations(r#"{"tasks": [{"activations": 2}, {"activations": 3}]}"#).expect("a sum"), 5);
        assert!(activations("{}").is_err() && activations("").is_err());
    }
}
