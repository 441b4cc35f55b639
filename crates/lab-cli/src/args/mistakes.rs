//! The command line of `whylate-lab mistakes`.

use clap::Args;
use std::path::PathBuf;

/// `whylate-lab mistakes`
#[derive(Debug, Args)]
pub(crate) struct MistakesArgs {
    /// Names of programs, or files of your own (see crates/lab-cli/mistakes)
    #[arg(value_name = "CASE", required_unless_present_any = ["all", "list"])]
    pub(crate) cases: Vec<String>,
    /// Every program
    #[arg(long, conflicts_with = "cases")]
    pub(crate) all: bool,
    /// List the programs with their mistakes and exit
    #[arg(long, conflicts_with = "json")]
    pub(crate) list: bool,
    /// Keep programs and answers in this directory [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Check only whether the mistakes take place; do not run doctor
    #[arg(long, conflicts_with = "json")]
    pub(crate) truth_only: bool,
    /// The program under test [default: whylate in the directory of this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) whylate: Option<PathBuf>,
    /// Write JSON to standard output: every run, and the totals
    #[arg(long)]
    pub(crate) json: bool,
}
