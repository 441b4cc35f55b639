//! The command line of `whylate-lab predict`.

use clap::Args;
use std::path::PathBuf;

/// `whylate-lab predict`
#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// Only changes to these scenarios [default: every change of crates/lab-cli/predictions.toml]
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenarios: Vec<String>,
    /// List the changes and exit
    #[arg(long, conflicts_with = "json")]
    pub(crate) list: bool,
    /// Keep recordings and labels in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// The program under test [default: whylate beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) whylate: Option<PathBuf>,
    /// The program that provokes the faults [default: whylate-inject beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) inject: Option<PathBuf>,
    /// Write JSON to standard output: every change, and the totals
    #[arg(long)]
    pub(crate) json: bool,
}
