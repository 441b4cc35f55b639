//! `whylate apply`, `confirm`, `verify`, `rollback`, `history`

use super::{Wanted, positive_duration};
use clap::Args;
use std::path::PathBuf;
use whylate_base::Ns;

/// The machine that is worked on.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// A directory with the root of another system, such as an image: its files alone are changed, and no command is run
    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true)]
    pub(crate) root: PathBuf,
    /// Write JSON to standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// `whylate apply`
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// A plan, as `whylate plan -o PLAN.json` writes it
    #[arg(value_name = "PLAN.json", conflicts_with_all = ["profile", "tuned", "isolated", "set", "skip_kernel_parameters", "from", "resume", "boot"])]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Only what mends the failed checks of this answer of `whylate check --json`
    #[arg(long, value_name = "CHECK.json", conflicts_with = "tuned")]
    pub(crate) from: Option<PathBuf>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Undo it by itself after this time, such as 5min, unless `whylate confirm` is run: for machines one might cut
    /// oneself off from
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, conflicts_with_all = ["resume", "boot"])]
    pub(crate) revert_after: Option<Ns>,
    /// Go on with an apply that stopped
    #[arg(long, conflicts_with_all = ["profile", "tuned", "isolated", "set", "skip_kernel_parameters", "from"])]
    pub(crate) resume: bool,
    /// Make the settings that a reboot took back again: for whylate-tuning.service
    #[arg(long, hide = true, conflicts_with_all = ["profile", "tuned", "isolated", "set", "skip_kernel_parameters", "from", "resume"])]
    pub(crate) boot: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// `whylate rollback`
#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    /// Undo this apply, and before it all that came later [default: the last one alone]
    #[arg(long, value_name = "N")]
    pub(crate) to: Option<u64>,
    /// Also put back what somebody else has changed since
    #[arg(long)]
    pub(crate) force: bool,
    /// Undo this apply only if nobody confirmed it: for the timer of --revert-after
    #[arg(long, value_name = "N", hide = true, conflicts_with_all = ["to", "force"])]
    pub(crate) unconfirmed: Option<u64>,
    /// Wait first
    #[arg(long, value_name = "DURATION", hide = true, value_parser = positive_duration, requires = "unconfirmed")]
    pub(crate) after: Option<Ns>,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// `whylate confirm`, `whylate verify`, `whylate history`
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    #[command(flatten)]
    pub(crate) place: Place,
}
