//! `cargo xtask bench`: measures whylate beside its peers, on this machine. Nothing here passes or fails.

mod check;
mod measure;
mod process;
mod read;
mod storm;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use std::path::{Path, PathBuf};

/// The benches.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Explain a large recording of context switches, beside `trace-cmd report` of the same file
    Read(read::Read),
    /// Blow the storm that `read` records
    #[command(hide = true)]
    Storm(storm::Blow),
    /// Check this machine and a large one that is made up, beside rtcqs and TuneD
    Check(check::Check),
    /// Measure wake-up latencies beside cyclictest, in turn: idle, and under stress-ng
    Measure(measure::Measure),
}

impl Bench {
    pub(crate) fn run(&self, root: &Path) -> Result<()> {
        match self {
            Bench::Read(read) => read.run(root),
            Bench::Storm(storm) => storm.run(),
            Bench::Check(check) => check.run(root),
            Bench::Measure(measure) => measure.run(root),
        }
    }
}

/// Where cargo builds, which no clone contains.
fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Builds the release binary and says where it is.
fn whylate(root: &Path) -> Result<PathBuf> {
    let output = crate::root::cargo(root)
        .args([
            "build",
            "--release",
            "--locked",
            "--package",
            "whylate",
            "--message-format",
            "json-render-diagnostics",
        ])
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cargo could not be started")?;
    if !output.status.success() {
        bail!("the release binary does not build");
    }
    let messages = String::from_utf8(output.stdout).context("cargo's messages are not UTF-8")?;
    executable(&messages).context("cargo did not name the binary `whylate`")
}

/// The path of the binary in cargo's messages, one JSON object a line.
pub(crate) fn executable(messages: &str) -> Option<PathBuf> {
    let objects = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut named = objects.filter(|object| object["target"]["name"] == "whylate");
    named.find_map(|object| object["executable"].as_str().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::executable;
    use std::path::Path;

    #[test]
    fn the_binary_is_the_one_cargo_names() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"other\"},\"executable\":\"/x/other\"}\n\
                        not json\n\
                        {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"whylate\"},\"executable\":\"/x/whylate\"}\n";
        assert_eq!(executable(messages).as_deref(), Some(Path::new("/x/whylate")));
        assert_eq!(executable("{}\n"), None);
    }
}
