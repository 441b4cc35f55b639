//! The arguments of `whylate bundle`.

use super::values::{file_to_write, positive_duration};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::ffi::OsString;
use std::path::PathBuf;
use whylate_base::Ns;

/// `whylate bundle`
#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    /// The file to write, a zstd-compressed tar
    #[arg(short, long, value_name = "FILE", value_parser = file_to_write())]
    pub(crate) output: PathBuf,
    /// How long to measure, and to record where no COMMAND is given
    #[arg(short, long, value_name = "DURATION", default_value = "10s", value_parser = positive_duration)]
    pub(crate) duration: Ns,
    /// Add this measurement, such as one of the stock kernel (repeatable): a document of `measure --json`, or a file of
    /// another tool
    #[arg(short, long, value_name = "FILE")]
    pub(crate) measurement: Vec<PathBuf>,
    /// Add this trace instead of a recording; it is taken as it is
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_record", "command"])]
    pub(crate) trace: Option<PathBuf>,
    /// Do not measure this machine
    #[arg(long)]
    pub(crate) no_measure: bool,
    /// Do not record
    #[arg(long, conflicts_with = "command")]
    pub(crate) no_record: bool,
    /// Leave the names and addresses of kernel functions out of the recording; timers' functions then have no name
    #[arg(long, conflicts_with_all = ["trace", "no_record"])]
    pub(crate) no_symbols: bool,
    /// Explain this thread, by name or id (repeatable); default: every real-time thread except kernel threads
    #[arg(short, long = "task", value_name = "COMM|TID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tasks: Vec<String>,
    /// The response time that must not be exceeded, such as 500us
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) deadline: Option<Ns>,
    /// Record this command until it ends, after `--`
    #[arg(last = true)]
    pub(crate) command: Vec<OsString>,
}
