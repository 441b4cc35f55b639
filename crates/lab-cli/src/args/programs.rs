//! The command line of `whylate-lab programs`.

use super::cases::CaseArgs;
use clap::Args;
use std::path::PathBuf;

/// `whylate-lab programs`
#[derive(Debug, Args)]
pub(crate) struct ProgramsArgs {
    #[command(flatten)]
    pub(crate) common: CaseArgs,
    /// Run on this kernel: a name of `whylate lab kernels`, fetched if need be (repeatable)
    /// [default: every cached kernel that a case applies to]
    #[arg(short, long = "kernel", value_name = "NAME")]
    pub(crate) kernels: Vec<String>,
    /// Keep recordings and figures in this directory [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Boot nothing: judge what an earlier run kept in this directory, by the analysis in this program
    #[arg(long, value_name = "DIR", conflicts_with_all = ["keep", "kernels", "whylate"])]
    pub(crate) again: Option<PathBuf>,
    /// Check only whether the faults take place; explain nothing
    #[arg(long, conflicts_with_all = ["again", "json"])]
    pub(crate) truth_only: bool,
}
