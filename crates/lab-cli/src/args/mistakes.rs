//! The command line of `whylate-lab mistakes`.

use super::cases::CaseArgs;
use clap::Args;
use std::path::PathBuf;

/// `whylate-lab mistakes`
#[derive(Debug, Args)]
pub(crate) struct MistakesArgs {
    #[command(flatten)]
    pub(crate) common: CaseArgs,
    /// Run in guests of this kernel: a name of `whylate lab kernels`, fetched if need be [default: on this machine]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Keep programs and answers in this directory [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Check only whether the mistakes take place; do not run doctor
    #[arg(long, conflicts_with = "json")]
    pub(crate) truth_only: bool,
}
