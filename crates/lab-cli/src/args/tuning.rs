//! The command line of `whylate-lab tuning`.

use super::limit::limit;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `whylate-lab tuning`
#[derive(Debug, Args)]
pub(crate) struct TuningArgs {
    /// The kernel: a name of `whylate lab kernels`; the Debian release that has it is installed (repeatable)
    #[arg(short, long = "kernel", value_name = "NAME", default_values = ["6.1-rt", "6.12-rt"])]
    pub(crate) kernels: Vec<String>,
    /// The profile (repeatable)
    #[arg(long = "profile", value_name = "NAME", default_value = "realtime")]
    pub(crate) profiles: Vec<String>,
    /// The CPUs to isolate, of four
    #[arg(long, value_name = "LIST", default_value = "2-3")]
    pub(crate) isolated: String,
    /// A value for a variable of the profile (repeatable)
    #[arg(long = "set", value_name = "VAR=VALUE")]
    pub(crate) set: Vec<String>,
    /// Allow this reason to refuse a plan (repeatable)
    #[arg(long, value_name = "CODE")]
    pub(crate) allow: Vec<String>,
    /// Measure latencies for this many seconds before and after
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["kill_at", "power_cut", "parity"])]
    pub(crate) measure: Option<u32>,
    /// Kill `apply` before each of these changes, instead of the story
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub(crate) kill_at: Vec<u32>,
    /// Cut the power before each of these changes, instead of the story
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub(crate) power_cut: Vec<u32>,
    /// Compare with TuneD, and write parity-KERNEL.md into the directory of --output, instead of the story
    #[arg(long, conflicts_with_all = ["kill_at", "power_cut"])]
    pub(crate) parity: bool,
    /// Boot nothing: compare the results of an earlier run with --parity in the directory of --output
    #[arg(long, requires = "parity")]
    pub(crate) no_run: bool,
    /// Directory for the machines' disks and results, with one subdirectory for each machine
    #[arg(short, long, value_name = "DIR", default_value = "whylate-lab")]
    pub(crate) output: PathBuf,
    /// The program under test [default: whylate in the directory of this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) whylate: Option<PathBuf>,
    /// End a boot after this time (of the host's clock)
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = limit)]
    pub(crate) limit: Duration,
    /// Write JSON to standard output: every finding
    #[arg(long)]
    pub(crate) json: bool,
}
