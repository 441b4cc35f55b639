//! The arguments of `whylate ps`.

use super::output::{OutputArgs, file_of, format_of};
use super::values::positive_duration;
use clap::Args;
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_report::ps::PsView;

/// `whylate ps`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<PsView<'_>>), mut_arg("output", file_of::<PsView<'_>>))]
pub(crate) struct PsArgs {
    /// Only threads of this id or name, in which `*` matches any text (repeatable); default: all real-time threads
    #[arg(short, long, value_name = "THREAD")]
    pub(crate) task: Vec<String>,
    /// All threads, also those that are not real-time
    #[arg(short, long, conflicts_with = "task")]
    pub(crate) all: bool,
    /// Show the interrupts as well
    #[arg(short, long)]
    pub(crate) irq: bool,
    /// The time between the two samples of the rates
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = positive_duration)]
    pub(crate) interval: Ns,
    /// A full-screen view, renewed each --interval
    #[arg(short, long, conflicts_with_all = ["json", "format", "output", "root"])]
    pub(crate) live: bool,
    /// Another machine, whose sums are shown: a file of `whylate snapshot`, a directory with its root
    #[arg(long, value_name = "PATH", default_value = "/")]
    pub(crate) root: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
