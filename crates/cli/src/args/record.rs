//! The arguments of `whylate record`.

use super::output::{OutputArgs, names};
use super::probe::ProbeArgs;
use super::selection::Selection;
use super::values::{file_to_write, positive_duration, some_cpus, stack_period};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use whylate_base::{CpuSet, Ns};
use whylate_report::explain::Explained;
use whylate_report::{Format, Render};

/// `whylate record`
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "whylate.dat", value_parser = file_to_write())]
    pub(crate) output: PathBuf,
    /// Stop after this time, such as 10s; default: when COMMAND ends, or at Ctrl-C
    #[arg(short, long, value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) duration: Option<Ns>,
    /// The trace clock [default: mono, the clock of clock_gettime(CLOCK_MONOTONIC)]
    #[arg(long, value_name = "CLOCK")]
    pub(crate) clock: Option<String>,
    /// Ring buffer per CPU, in KiB; larger loses fewer events
    #[arg(long, value_name = "KIB", default_value_t = whylate_investigate::record::SessionOptions::default().buffer_kib, value_parser = clap::value_parser!(u64).range(64..=4_194_304))]
    pub(crate) buffer: u64,
    /// Record the events of these CPUs only, such as 2-3; wake-ups by other CPUs are not recorded then
    ///
    /// Other CPUs write no events, except the facts about the machine. Call stacks (--stacks) are still those of all CPUs. What
    /// a report cannot show then is in `whylate explain --code cpus-not-recorded`.
    #[arg(long, value_name = "LIST", value_parser = some_cpus)]
    pub(crate) cpus: Option<CpuSet>,
    /// Record this event as well (repeatable), such as net:netif_rx or workqueue
    #[arg(short, long = "event", value_name = "GROUP:EVENT")]
    pub(crate) events: Vec<String>,
    /// Record the kernel's function calls too, all or those of a list of names with *, such as --functions='*_rt,tick_*'
    ///
    /// The function tracer slows the whole kernel down: late activations are later with it. Its events have a buffer of their own,
    /// so that they push out no others. A kernel that does not trace functions in an instance refuses.
    #[arg(long, value_name = "NAMES", num_args = 0..=1, require_equals = true, default_missing_value = "", value_delimiter = ',')]
    pub(crate) functions: Option<Vec<String>>,
    /// Run COMMAND as this user, by name or number, with that user's groups; the recording itself needs root
    #[arg(long, value_name = "USER", requires = "command")]
    pub(crate) user: Option<String>,
    /// Leave the names and addresses of kernel functions out of the file; timers' functions then have no name, and events
    /// still hold pointers
    #[arg(long)]
    pub(crate) no_symbols: bool,
    /// Sample call stacks of COMMAND, or of all real-time programs: where threads blocked, touched pages first and spent
    /// their time
    #[arg(long)]
    pub(crate) stacks: bool,
    /// With --stacks: the interval of the samples of running threads; unless given 1ms, or 2,000 times what a timer's interrupt
    /// takes where that is more, as in most virtual machines, but 50ms at most
    #[arg(long, value_name = "DURATION", requires = "stacks", value_parser = stack_period)]
    pub(crate) stack_period: Option<Ns>,
    /// With --stacks: look for separate debug files (by build id) in this directory as well (repeatable)
    #[arg(long, value_name = "DIR", requires = "stacks")]
    pub(crate) symbols: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) probe: ProbeArgs,
    /// Explain the recording when done
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Write the command's exit code to this file; 128 + signal where one ended it
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) exit_code: Option<PathBuf>,
    /// With --explain: the format of the report on standard output
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "explain", value_parser = names(Explained::FORMATS))]
    pub(crate) format: Format,
    /// With --explain: same as --format json
    #[arg(long, requires = "explain", conflicts_with = "format")]
    pub(crate) json: bool,
    /// With --explain: also write the report to this file; the suffix of its name selects the format, as for `whylate explain -o`
    #[arg(long, value_name = "FILE", requires = "explain", value_parser = file_to_write())]
    pub(crate) report: Option<PathBuf>,
    /// The command to run and record, after `--`; with --explain and another --format than text its standard output goes to
    /// standard error
    #[arg(last = true)]
    pub(crate) command: Vec<OsString>,
}

impl RecordArgs {
    /// Where the report of --explain goes.
    pub(crate) fn report(&self) -> OutputArgs {
        OutputArgs::new(if self.json { Format::Json } else { self.format }, self.report.clone())
    }
}
