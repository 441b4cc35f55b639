//! The command line of `whylate simulate`.

use super::output::{OutputArgs, file_of, format_of};
use super::values::{FailOn, positive_duration};
use clap::Args;
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_simulate::SimulationReport;
use whylate_simulate::model::KernelSeries;

/// `whylate simulate`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<SimulationReport>), mut_arg("output", file_of::<SimulationReport>))]
pub(crate) struct SimulateArgs {
    /// The task set, a TOML file (docs/simulate.md); `-` is standard input
    #[arg(value_name = "TASKS")]
    pub(crate) tasks: PathBuf,
    /// The kernel's version or release, such as 6.1 or 6.12-rt, instead of the file's
    #[arg(short, long, value_name = "VERSION", value_parser = kernel)]
    pub(crate) kernel: Option<(KernelSeries, bool)>,
    /// The number of CPUs, instead of the file's
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) cpus: Option<u32>,
    /// The length of the run
    #[arg(short, long, value_name = "DURATION", default_value = "10s", value_parser = positive_duration)]
    pub(crate) duration: Ns,
    /// The same seed gives the same run
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// How many activations of each task to explain, worst first
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) worst: u16,
    /// Exit with 1 when there is a finding of at least this severity
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// A version, and whether its release names PREEMPT_RT.
fn kernel(text: &str) -> Result<(KernelSeries, bool), String> {
    let version =
        text.parse().map_err(|error: whylate_simulate::model::KernelSeriesError| error.to_string())?;
    Ok((version, text.contains("rt")))
}
