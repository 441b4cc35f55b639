//! `bench build`: how long a clean release build of `whylate` takes, and how large the program is.

use crate::root;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest that a clean build may take on two CPUs.
const LONGEST: Duration = Duration::from_secs(300);

/// The most bytes that the program may have.
const MOST_BYTES: u64 = 20_000_000;

#[derive(Args)]
pub(crate) struct Build {
    /// Keep the build directory
    #[arg(long)]
    keep: bool,
}

impl Build {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        let directory = root::target(root).join("bench").join("build");
        if directory.exists() {
            fs::remove_dir_all(&directory)
                .with_context(|| format!("{} cannot be removed", directory.display()))?;
        }
        // Fetching is the network's time, not the compiler's.
        cargo(root, &["fetch", "--locked"], &directory)?;
        let start = Instant::now();
        cargo(root, &["build", "--release", "--locked", "--package", "whylate"], &directory)?;
        let time = start.elapsed();
        let program = directory.join("release/whylate");
        let size =
            fs::metadata(&program).with_context(|| format!("{} cannot be read", program.display()))?.len();
        let cpus = std::thread::available_parallelism().map_or(0, usize::from);
        println!("{}", table(time, size, cpus));
        if !self.keep {
            fs::remove_dir_all(&directory)
                .with_context(|| format!("{} cannot be removed", directory.display()))?;
        }
        Ok(())
    }
}

fn cargo(root: &Path, arguments: &[&str], target: &Path) -> Result<()> {
    let status = root::cargo(root)
        .args(arguments)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .context("cargo cannot be started")?;
    if !status.success() {
        bail!("cargo {} failed: {status}", arguments.join(" "));
    }
    Ok(())
}

fn table(time: Duration, size: u64, cpus: usize) -> String {
    let over = |is_over: bool| if is_over { ", over budget" } else { "" };
    format!(
        "clean release build, {cpus} CPUs: {:.1} s (budget {} s on 2 CPUs{})\nwhylate: {size} bytes (budget {MOST_BYTES}{})",
        time.as_secs_f64(),
        LONGEST.as_secs(),
        over(time > LONGEST),
        over(size > MOST_BYTES),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_budget_is_marked() {
        let fine = table(Duration::from_secs(300), MOST_BYTES, 2);
        assert!(
            fine.contains("300.0 s") && fine.contains("20000000 bytes") && !fine.contains("over"),
            "{fine}"
        );
        let over = table(Duration::from_secs(301), MOST_BYTES + 1, 2);
        assert_eq!(over.matches("over budget").count(), 2, "{over}");
    }
}
