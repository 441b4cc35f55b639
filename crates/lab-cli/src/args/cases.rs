//! What `whylate-lab programs` and `whylate-lab mistakes` have in common.

use clap::Args;
use std::path::PathBuf;

/// The cases, the program that is judged by them, and the form of the result.
#[derive(Debug, Args)]
pub(crate) struct CaseArgs {
    /// Names of cases, or files of your own (see crates/lab-cli/programs and crates/lab-cli/mistakes)
    #[arg(value_name = "CASE", required_unless_present_any = ["all", "list"])]
    pub(crate) cases: Vec<String>,
    /// Every case
    #[arg(long, conflicts_with = "cases")]
    pub(crate) all: bool,
    /// List the cases and exit
    #[arg(long, conflicts_with = "json")]
    pub(crate) list: bool,
    /// The program under test [default: whylate in the directory of this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) whylate: Option<PathBuf>,
    /// Write JSON to standard output: every run, and the totals
    #[arg(long)]
    pub(crate) json: bool,
}
