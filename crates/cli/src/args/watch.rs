//! The arguments of `whylate watch`.

use super::markers::MarkerArgs;
use super::measure::address;
use super::output::{OutputArgs, file_of, format_of};
use super::probe::ProbeArgs;
use super::values::{bytes, percent, positive_duration};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_investigate::watch::{WatchReport, WatchRule};

/// `whylate watch`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<WatchReport>), mut_arg("output", file_of::<WatchReport>))]
pub(crate) struct WatchArgs {
    /// Watch threads of this name, pattern such as 'ctl*', or id (repeatable); default: all real-time threads of programs
    #[arg(short, long = "task", value_name = "THREAD", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "config")]
    tasks: Vec<String>,
    /// A longer response (due to done) is late; default: longer than the thread's own period, or far beyond its history
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, conflicts_with = "config")]
    deadline: Option<Ns>,
    #[command(flatten)]
    pub(crate) markers: MarkerArgs,
    #[command(flatten)]
    pub(crate) probe: ProbeArgs,
    /// Read threads, deadlines and the action from this file, and again at SIGHUP
    #[arg(short, long, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Keep a window of each late activation in this directory, as trace.dat; a new watch goes on where an earlier one ended
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Add the late activations and the summary to the tables in this directory, as `whylate tables` does: under this machine's
    /// name, every 10 min and at the end
    #[arg(long, value_name = "DIR")]
    pub(crate) tables: Option<PathBuf>,
    /// Bytes of all windows together; the oldest of the commonest group goes first
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes)]
    pub(crate) max_disk: u64,
    /// The watch's own CPU time, in percent of one CPU; where it is not enough, fewer kinds of events are recorded
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percent)]
    pub(crate) max_cpu: f64,
    /// Run this command, by /bin/sh, for a late activation, with the explanation on its standard input; at most one in 10 s,
    /// for at most 10 s
    #[arg(long, value_name = "CMD", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "config")]
    pub(crate) on_late: Option<String>,
    /// Do not record the watched threads' system calls and page faults; while they are recorded, every thread's system calls
    /// take a slower way into the kernel
    #[arg(long)]
    pub(crate) no_calls: bool,
    /// Ring buffer per CPU, in KiB [default: 4096, or less on a machine with more than 64 CPUs]
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(64..=4_194_304))]
    pub(crate) buffer: Option<u64>,
    /// Serve the watch as OpenMetrics at /metrics; without an address only to this machine
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = address)]
    pub(crate) serve: Option<SocketAddr>,
    /// End after this time; default: when COMMAND ends, or at a signal
    #[arg(short, long, value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) duration: Option<Ns>,
    /// Print a systemd unit that watches with these options, and exit
    #[arg(long)]
    pub(crate) print_unit: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// The command to run and watch, after `--`; with another --format than text its standard output goes to standard error
    #[arg(last = true)]
    pub(crate) command: Vec<OsString>,
}

impl WatchArgs {
    /// The threads of the command line, as they are written.
    pub(crate) fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// The rules of the command line.
    pub(crate) fn rules(&self) -> Result<Vec<WatchRule>, String> {
        if self.tasks.is_empty() {
            return Ok(vec![WatchRule { threads: None, deadline: self.deadline }]);
        }
        let rule = |text: &String| {
            Ok(WatchRule { threads: Some(WatchRule::select(text)?), deadline: self.deadline })
        };
        self.tasks.iter().map(rule).collect()
    }
}
