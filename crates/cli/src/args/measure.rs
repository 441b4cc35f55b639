//! `whylate measure`.

mod cyclictest;
mod flight;
mod load;
mod probe;
mod serve;

use super::output::{OutputArgs, file_of, format_of};
use super::values::FailOn;
use clap::Args;
pub(super) use cyclictest::in_our_words;
use flight::FlightArgs;
pub(crate) use load::{LoadArgs, LoadWorkerArgs};
pub(super) use load::{LoadList, loads};
pub(crate) use probe::ProbeArgs;
pub(crate) use serve::Export;
use serve::Exports;
pub(super) use serve::address;
use whylate_investigate::measure::MeasureReport;

/// `whylate measure`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<MeasureReport>), mut_arg("output", file_of::<MeasureReport>))]
pub(crate) struct MeasureArgs {
    #[command(flatten)]
    pub(crate) probe: ProbeArgs,
    /// Trace buffer per CPU, in KiB; larger reaches further back from a late wake-up
    /// [default: 4096, less on machines with more than 64 CPUs]
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(64..=4_194_304))]
    pub(crate) buffer: Option<u64>,
    /// Do not trace: measure only
    #[arg(long)]
    pub(crate) no_trace: bool,
    /// Exit with 1 when something this grave is found
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) flight: FlightArgs,
    #[command(flatten)]
    pub(crate) exports: Exports,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
