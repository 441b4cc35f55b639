//! The arguments of `whylate doctor`.

use super::output::{OutputArgs, file_of, format_of};
use super::values::{FailOn, positive_duration};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_investigate::doctor::DoctorReport;

/// `whylate doctor`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<DoctorReport>), mut_arg("output", file_of::<DoctorReport>))]
pub(crate) struct DoctorArgs {
    /// Examine this process, with the threads and processes that it starts; it is left running
    #[arg(short, long, value_name = "PID", conflicts_with = "command", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) pid: Option<i32>,
    /// Stop after this time, such as 10s; default: when the program ends, or at Ctrl-C
    #[arg(short, long, value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) duration: Option<Ns>,
    /// Look for separate debug files (by build id) in this directory as well (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(crate) symbols: Vec<PathBuf>,
    /// Exit with 1 when there is a finding of at least this severity
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print the page of a finding, such as heap-in-loop, and exit; `list` prints all codes
    #[arg(long, value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// The command to run and examine, after `--`; with another --format than text its standard output goes to standard error
    #[arg(last = true)]
    pub(crate) command: Vec<OsString>,
}
