//! The command line of `whylate-lab fixes`.

use clap::Args;
use std::path::PathBuf;

/// `whylate-lab fixes`
#[derive(Debug, Args)]
pub(crate) struct FixesArgs {
    /// Names of scenarios, or files of your own
    #[arg(value_name = "SCENARIO", required_unless_present = "all")]
    pub(crate) scenarios: Vec<String>,
    /// Every scenario that makes something late
    #[arg(long, conflicts_with = "scenarios")]
    pub(crate) all: bool,
    /// Run on this kernel: a name of `whylate lab kernels`, fetched if need be (repeatable) [default: every cached kernel]
    #[arg(short, long = "kernel", value_name = "NAME")]
    pub(crate) kernels: Vec<String>,
    /// Guests have at least this many CPUs, on kernels that run several in virtual time: a thread is moved only where there is
    /// another CPU. The emulator runs one CPU at a time, so that a thread stands still while another CPU works
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) cpus: u32,
    /// Names, phases and lengths by this seed; 0 gives descriptive names
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of guests in virtual time that run at once, before the fixes [default: one for each CPU, at most 8]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    /// Keep recordings and labels in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// The program under test [default: whylate beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) whylate: Option<PathBuf>,
    /// The program that provokes the faults [default: whylate-inject beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) inject: Option<PathBuf>,
    /// Write JSON to standard output: every run, and the totals
    #[arg(long)]
    pub(crate) json: bool,
}
