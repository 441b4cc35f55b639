//! `whylate compare` and `whylate plot`.

use super::output::{OutputArgs, file_of, format_of};
use super::values::{file_to_write, some_cpus};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use whylate_base::CpuSet;
use whylate_investigate::compare::{Gate, GateError};
use whylate_investigate::measure::Wanted;
use whylate_report::compare::Compared;

/// `whylate compare`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<Compared>), mut_arg("output", file_of::<Compared>))]
pub(crate) struct CompareArgs {
    /// Measurements: documents of `whylate measure --json`, or files of cyclictest, oslat, rtla, sysjitter, Xenomai's latency,
    /// stress-ng --cyclic, jitterdebugger, OSADL, bcc and bpftrace, rows of perf sched timehist; for their maxima alone tables of perf sched latency and
    /// rtla top, and reports of hwlatdetect; or two documents of `whylate bench --json`.
    /// All are compared with the first; or give pairs BEFORE:AFTER, each compared by itself. A file whose name has a colon
    /// goes before a pair
    #[arg(value_name = "FILE|BEFORE:AFTER", required_unless_present = "tables")]
    pub(crate) files: Vec<PathBuf>,
    /// Compare with this measurement instead of the first one; with --tables the name of a group, by default the one with the
    /// most machines
    #[arg(long, value_name = "FILE|GROUP")]
    pub(crate) baseline: Option<PathBuf>,
    /// Compare groups of machines: the measurements in this directory, which `whylate tables` has written
    #[arg(long, value_name = "DIR", conflicts_with = "files")]
    pub(crate) tables: Option<PathBuf>,
    /// With --tables: what tells the groups apart: kernel, board, firmware, cpu_model, arch, profile, clocksource, date, machine,
    /// or the path of a setting, such as /proc/sys/kernel/timer_migration
    #[arg(long, value_name = "WHAT", default_value = "kernel", requires = "tables")]
    pub(crate) by: String,
    /// With --tables: only measurements with this value of what --by may name, or of `probe` and `tool` (repeatable)
    #[arg(long = "where", value_name = "WHAT=VALUE", value_parser = condition, requires = "tables")]
    pub(crate) conditions: Vec<(String, String)>,
    /// Conditions for each thread, such as p99.99<50us,max<=100us; of several runs, the baseline is exempt, of each pair
    /// the one before. max<=20us@2-3 is for the threads of CPUs 2 and 3 (repeatable)
    #[arg(long, value_name = "CONDITIONS", value_parser = gates)]
    pub(crate) gate: Vec<GateList>,
    /// Compare only what was measured on these CPUs; repeatable: system CPUs and isolated CPUs each with their like, and of
    /// one file the first group with each other
    #[arg(long, value_name = "LIST", value_parser = some_cpus)]
    pub(crate) cpus: Vec<CpuSet>,
    /// Check whether the samples support a claim such as 100us@1e-9: later than 100 us with at most this probability
    /// (repeatable)
    #[arg(long = "claim", value_name = "LATENCY@PROBABILITY")]
    pub(crate) claims: Vec<Wanted>,
    /// State that no cause exists that is rarer than the samples can show: then a fit of the tail supports a claim
    #[arg(long, requires = "claims")]
    pub(crate) assume_no_rarer_cause: bool,
    /// Exit with 1 when a run is this much worse
    #[arg(long, value_name = "WORSE", default_value = "mixed")]
    pub(crate) fail_on: FailOnWorse,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Several gates from one argument.
#[derive(Clone, Debug)]
pub(crate) struct GateList(pub(crate) Vec<Gate>);

fn gates(text: &str) -> Result<GateList, GateError> {
    Gate::list(text).map(GateList)
}

fn condition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it has no =: write for example board=A")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// When a comparison fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOnWorse {
    /// In something, even if other things are better
    Mixed,
    /// In all that differs
    Worse,
    /// Never
    Never,
}

/// `whylate plot`
#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Measurements: documents of `whylate measure --json`, or files of cyclictest, oslat, rtla, sysjitter, Xenomai's latency,
    /// stress-ng --cyclic, jitterdebugger, OSADL, bcc
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The file to write, SVG or, in a build with the feature `png`, PNG
    #[arg(short, long, value_name = "FILE.svg", value_parser = file_to_write())]
    pub(crate) output: PathBuf,
    /// What to plot
    #[arg(long, value_name = "KIND", default_value = "histogram")]
    pub(crate) kind: PlotKind,
    /// Each thread separately: small multiples of histograms, otherwise one line for each
    #[arg(long)]
    pub(crate) per_cpu: bool,
    /// Plot only what was measured on these CPUs; repeatable: a line for each group
    #[arg(long, value_name = "LIST", value_parser = some_cpus)]
    pub(crate) cpus: Vec<CpuSet>,
}

/// What is plotted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotKind {
    /// The latency histogram, both axes logarithmic
    Histogram,
    /// The latency CCDF (share of samples at least so late), with the fitted tail
    Ccdf,
    /// The maximum over time
    Time,
    /// The shift of quantiles from the first file to the others
    Shift,
}
