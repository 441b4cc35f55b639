//! `whylate apply`, `confirm`, `verify`, `rollback`, `history`

use super::output::{OutputArgs, file_of, format_of};
use super::plan::Wanted;
use super::values::positive_duration;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_report::apply::Applies;
use whylate_report::history::History;
use whylate_tuning::Verification;

/// The machine to change.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Change the root of another system in this directory, such as an image: only its files, and no command is run
    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true)]
    pub(crate) root: PathBuf,
}

/// What happens where a required setting is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnFailure {
    /// Stop there: what was set stays, and --resume or rollback follows
    #[default]
    Stop,
    /// Set everything else, and exit with 2
    Continue,
    /// Undo this apply, and exit with 2
    Rollback,
}

/// `whylate apply`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<Applies<'_>>), mut_arg("output", file_of::<Applies<'_>>))]
pub(crate) struct ApplyArgs {
    /// A plan, as `whylate plan -o PLAN.json` writes it
    #[arg(value_name = "PLAN.json", conflicts_with_all = ["profile", "tuned", "isolated", "set", "skip_kernel_parameters", "from", "resume", "boot"])]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Only the fixes that a document of `explain`, `check` or `doctor` (--json) advises
    #[arg(long, value_name = "FILE.json", conflicts_with = "tuned")]
    pub(crate) from: Option<PathBuf>,
    /// With --from: this fix of the document (repeatable), by the number that the plan shows; default: the first of each finding
    /// that can be made
    #[arg(long, value_name = "N", requires = "from")]
    pub(crate) fix: Vec<usize>,
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Undo the apply after this time, such as 5min, unless `whylate confirm` is run: for remote machines that might
    /// become unreachable
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, conflicts_with_all = ["resume", "boot"])]
    pub(crate) revert_after: Option<Ns>,
    /// What happens where a required setting is refused; optional ones are skipped and reported
    #[arg(long, value_enum, value_name = "ACTION", default_value_t, conflicts_with = "boot")]
    pub(crate) on_failure: OnFailure,
    /// Resume an interrupted apply
    #[arg(long, conflicts_with_all = ["profile", "tuned", "isolated", "set", "skip_kernel_parameters", "from"])]
    pub(crate) resume: bool,
    /// Reapply the settings that a reboot reset: for whylate-tuning.service
    #[arg(long, hide = true, conflicts_with_all = ["profile", "tuned", "isolated", "set", "skip_kernel_parameters", "from", "resume"])]
    pub(crate) boot: bool,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// `whylate rollback`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<Applies<'_>>), mut_arg("output", file_of::<Applies<'_>>))]
pub(crate) struct RollbackArgs {
    /// Undo this apply, and all later ones first [default: only the last one]
    #[arg(long, value_name = "N")]
    pub(crate) to: Option<u64>,
    /// Also restore what another program has changed since
    #[arg(long)]
    pub(crate) force: bool,
    /// Undo this apply only if it is not confirmed: for the timer of --revert-after
    #[arg(long, value_name = "N", hide = true, conflicts_with_all = ["to", "force"])]
    pub(crate) unconfirmed: Option<u64>,
    /// Wait first
    #[arg(long, value_name = "DURATION", hide = true, value_parser = positive_duration, requires = "unconfirmed")]
    pub(crate) after: Option<Ns>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// `whylate confirm`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<Applies<'_>>), mut_arg("output", file_of::<Applies<'_>>))]
pub(crate) struct ConfirmArgs {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// `whylate verify`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<Verification>), mut_arg("output", file_of::<Verification>))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// `whylate history`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<History<'_>>), mut_arg("output", file_of::<History<'_>>))]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
