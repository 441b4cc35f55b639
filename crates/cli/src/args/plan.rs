//! `whylate plan`

use super::output::{OutputArgs, file_of, format_of};
use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use std::path::PathBuf;
use whylate_base::CpuSet;
use whylate_tuning::{Permits, Plan};

/// `whylate plan`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<Plan>), mut_arg("output", file_of::<Plan>))]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Only what mends the failed checks of this answer of `whylate check --json`; `-` reads standard input. Its profile
    /// and CPUs count where none are given
    #[arg(long, value_name = "CHECK.json", conflicts_with = "tuned")]
    pub(crate) from: Option<PathBuf>,
    /// Another machine: a file of `whylate snapshot`, a directory with its root
    #[arg(long, value_name = "DIR|FILE", default_value = "/", hide_default_value = true)]
    pub(crate) root: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Name the profiles there are, whylate's and TuneD's, and exit
    #[arg(long)]
    pub(crate) list: bool,
}

/// What is asked for.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// The profile: a name of --list, or a file (TOML) [default: realtime]
    #[arg(long, value_name = "NAME|FILE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) profile: Option<String>,
    /// A profile of TuneD, read as it is from /etc/tuned and /usr/lib/tuned
    #[arg(long, value_name = "NAME", conflicts_with = "profile", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tuned: Option<String>,
    /// The CPUs for real-time threads alone, such as 2-3: short for --set isolated=2-3, of TuneD's profiles
    /// --set isolated_cores=2-3
    #[arg(long, value_name = "LIST", value_parser = super::some_cpus)]
    pub(crate) isolated: Option<CpuSet>,
    /// A value for a variable of the profile (repeatable)
    #[arg(long = "set", value_name = "VAR=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
    /// Leave the kernel command line alone: only what counts without a reboot
    #[arg(long)]
    pub(crate) skip_kernel_parameters: bool,
    /// Allow what a plan is refused for (repeatable): a code of the plan, such as isolates-cpu-0
    #[arg(long, value_name = "CODE", value_parser = PossibleValuesParser::new(Permits::CODES))]
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
