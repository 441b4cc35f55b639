//! The command line of `whylate-lab programs`.

use clap::Args;
use std::path::PathBuf;

/// `whylate-lab programs`
#[derive(Debug, Args)]
pub(crate) struct ProgramsArgs {
    /// Names of cases, or files of your own (see crates/lab-cli/programs)
    #[arg(value_name = "CASE", required_unless_present_any = ["all", "list"])]
    pub(crate) cases: Vec<String>,
    /// Every case
    #[arg(long, conflicts_with = "cases")]
    pub(crate) all: bool,
    /// List the cases with their programs and exit
    #[arg(long, conflicts_with = "json")]
    pub(crate) list: bool,
    /// Run on this kernel: a name of `whylate lab kernels`, fetched if need be (repeatable)
    /// [default: every cached kernel that a case applies to]
    #[arg(short, long = "kernel", value_name = "NAME")]
    pub(crate) kernels: Vec<String>,
    /// Keep recordings and figures in this directory [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Boot nothing: judge what an earlier run kept in this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["keep", "kernels"])]
    pub(crate) again: Option<PathBuf>,
    /// Check only whether the faults take place; explain nothing
    #[arg(long, conflicts_with_all = ["again", "json"])]
    pub(crate) truth_only: bool,
    /// The program under test [default: whylate in the directory of this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) whylate: Option<PathBuf>,
    /// Write JSON to standard output: every run, and the totals
    #[arg(long)]
    pub(crate) json: bool,
}
