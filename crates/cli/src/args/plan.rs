//! `whylate plan`

use super::output::{OutputArgs, file_of, format_of};
use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use std::path::PathBuf;
use whylate_base::CpuSet;
use whylate_report::plan_compare::PlanComparison;
use whylate_tuning::{AllowedRefusals, Plan};

/// `whylate plan`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<PlanComparison<'_>>), mut_arg("output", file_of::<Plan>))]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Only the fixes that a document of `explain`, `check` or `doctor` (--json) advises; `-` reads standard input. Those
    /// that no setting makes are listed with the reason. Of `check`: its profile and CPUs are used unless given
    #[arg(long, value_name = "FILE.json", conflicts_with = "tuned")]
    pub(crate) from: Option<PathBuf>,
    /// With --from: this fix of the document (repeatable), by the number that the plan shows; default: the first of each finding
    /// that can be made
    #[arg(long, value_name = "N", requires = "from")]
    pub(crate) fix: Vec<usize>,
    /// Compare the profile with this one, setting by setting, and change nothing. Both may be a profile of whylate (name
    /// or file), one of TuneD (`tuned:NAME`, or its directory), or a machine (a file of `whylate snapshot`, or a directory
    /// with its root). The report may also be HTML
    #[arg(long, value_name = "PROFILE|FILE|DIR", conflicts_with_all = ["from", "list", "allow", "skip_kernel_parameters"], value_parser = NonEmptyStringValueParser::new())]
    pub(crate) against: Option<String>,
    /// A value for a variable of the profile of --against, where it differs from --set (repeatable)
    #[arg(long = "against-set", value_name = "VAR=VALUE", value_parser = assignment, requires = "against")]
    pub(crate) against_set: Vec<(String, String)>,
    /// With --against: list the settings that are the same on both sides, too
    #[arg(long, requires = "against")]
    pub(crate) all: bool,
    /// Plan for another machine: a file of `whylate snapshot`, or a directory with its root
    #[arg(long, value_name = "DIR|FILE", default_value = "/", hide_default_value = true)]
    pub(crate) root: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// List the available profiles, whylate's and TuneD's, and exit
    #[arg(long)]
    pub(crate) list: bool,
}

/// The desired state.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// The profile: a name of --list, or a file (TOML) [default: realtime]
    #[arg(long, value_name = "NAME|FILE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) profile: Option<String>,
    /// A TuneD profile, read from /etc/tuned and /usr/lib/tuned
    #[arg(long, value_name = "NAME", conflicts_with = "profile", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tuned: Option<String>,
    /// CPUs for real-time threads only, such as 2-3: short for --set isolated=2-3, with a TuneD profile for
    /// --set isolated_cores=2-3
    #[arg(long, value_name = "LIST", value_parser = super::values::some_cpus)]
    pub(crate) isolated: Option<CpuSet>,
    /// A value for a variable of the profile (repeatable)
    #[arg(long = "set", value_name = "VAR=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
    /// Plan no kernel parameters: only settings that take effect without a reboot
    #[arg(long)]
    pub(crate) skip_kernel_parameters: bool,
    /// Override a refusal (repeatable): a code of the plan, such as isolates-cpu-0
    #[arg(long, value_name = "CODE", value_parser = PossibleValuesParser::new(AllowedRefusals::CODES))]
    pub(crate) allow: Vec<String>,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write it like isolated=2-3".to_owned()),
    }
}
