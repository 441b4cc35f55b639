//! The command line of `whylate-lab run`.

use clap::Args;
use std::path::PathBuf;
use whylate_lab::Arch;

/// `whylate-lab run`
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Names of scenarios, or files of your own (see crates/lab-cli/scenarios)
    #[arg(value_name = "SCENARIO", required_unless_present_any = ["all", "quick", "list"])]
    pub(crate) scenarios: Vec<String>,
    /// Every scenario
    #[arg(long, conflicts_with = "scenarios")]
    pub(crate) all: bool,
    /// Only the runs of the quick subset, on the kernels that it names
    #[arg(long)]
    pub(crate) quick: bool,
    /// List the scenarios and exit
    #[arg(long, conflicts_with = "json")]
    pub(crate) list: bool,
    /// Run on this kernel: a name of `whylate lab kernels`, fetched if need be, or an image (repeatable)
    /// [default: every cached kernel that a scenario applies to]
    #[arg(short, long = "kernel", value_name = "NAME|PATH")]
    pub(crate) kernels: Vec<String>,
    /// The guests' architecture: x86_64 or arm64 [default: this machine's]
    #[arg(long, value_name = "ARCH")]
    pub(crate) arch: Option<Arch>,
    /// The kernel's modules, for an image
    #[arg(long, value_name = "DIR", requires = "kernels")]
    pub(crate) modules: Option<PathBuf>,
    /// Number of runs of each scenario, with seeds 1 to N: names, phases and lengths vary
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(crate) seeds: u64,
    /// One run of each scenario, with this seed; 0 gives descriptive names
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    pub(crate) seed: Option<u64>,
    /// Number of guests in virtual time that run at once [default: one for each CPU, at most 8]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    /// Keep recordings and labels in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// The program under test [default: whylate beside this program, or where cargo puts one for the guests' architecture]
    #[arg(long, value_name = "PATH")]
    pub(crate) whylate: Option<PathBuf>,
    /// The program that provokes the faults [default: whylate-inject, as for --whylate]
    #[arg(long, value_name = "PATH")]
    pub(crate) inject: Option<PathBuf>,
    /// Write JSON to standard output: every run, and the totals
    #[arg(long)]
    pub(crate) json: bool,
}
