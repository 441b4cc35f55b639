//! The command line of `whylate simulate`.

use super::output::{OutputArgs, file_of, format_of};
use super::values::{FailOn, positive_duration};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_simulate::SimulationReport;
use whylate_simulate::change::WrittenChange;
use whylate_simulate::model::KernelSeries;
use whylate_simulate::sweep::SweepAxis;

/// `whylate simulate`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<SimulationReport>), mut_arg("output", file_of::<SimulationReport>))]
pub(crate) struct SimulateArgs {
    /// The task set, a TOML file (docs/simulate.md), or a recording to replay; `-` is a task set from standard input
    #[arg(value_name = "TASKS|TRACE")]
    pub(crate) input: PathBuf,
    /// The kernel's version or release, such as 6.1 or 6.12-rt, instead of the file's
    #[arg(short, long, value_name = "VERSION", value_parser = kernel)]
    pub(crate) kernel: Option<(KernelSeries, bool)>,
    /// The number of CPUs, instead of the file's
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) cpus: Option<u32>,
    /// Of a task set: the machine as it is, instead of the file's: a file of `whylate snapshot`, a directory with a machine's root, or
    /// / for this one
    #[arg(long, value_name = "PATH")]
    pub(crate) snapshot: Option<PathBuf>,
    /// The length of the run, of a task set or with --mean; default: 10s, or the length of the recording
    #[arg(short, long, value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) duration: Option<Ns>,
    /// The same seed gives the same run
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// How many activations of each task to explain, worst first
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) worst: u16,
    /// Exit with 1 when there is a finding of at least this severity
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,
    /// Write the simulated schedule, its format by the ending: .perfetto-trace, .dat, .txt or .jsonl
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replay: ReplayArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What is changed before the run, and which threads are shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Changes and replay")]
pub(crate) struct ReplayArgs {
    /// Show this thread, by name or id (repeatable); default: every task of a task set; of a recording every real-time thread
    /// except kernel threads
    #[arg(short, long = "task", value_name = "COMM|TID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tasks: Vec<String>,
    /// Of a recording: the response time that must not be exceeded, such as 500us
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) deadline: Option<Ns>,
    /// Change a thread or the machine (repeatable), such as ctl.priority=60, hog.cpus=1, throttling=off, kernel=6.12
    ///
    /// Of threads: NAME.priority, NAME.policy (fifo, rr, other, idle), NAME.nice, NAME.cpus, NAME.offset (the first due
    /// instant; of a recording, so much later than there); a name may have wildcards.
    /// Of the machine: throttling (on, off), sched_rt_runtime_us, fair-server (on, off, 50ms/1s), kernel, isolated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = WrittenChange::set)]
    pub(crate) set: Vec<WrittenChange>,
    /// Run all values of a setting of --set (repeatable: all combinations), such as ctl.offset=0..20ms/1ms, ctl.cpus=0,1,2-3
    ///
    /// FIRST..LAST/STEP or a list of values; of several CPUs that are one value, 0-1 or 0+2. The report shows the combinations
    /// grouped by what they do, worst first, and then the worst one. At most 10000 combinations.
    #[arg(long, value_name = "KEY=VALUES", value_parser = SweepAxis::parse, conflicts_with_all = ["worst_case", "export"])]
    pub(crate) sweep: Vec<SweepAxis>,
    /// Look for priorities, and CPUs where these alone do not do, with which the tasks with a deadline hold it
    ///
    /// By Audsley's assignment, from the lowest priority on; each step by the bounds of the analysis where there are any, else by
    /// a run. Of a recording: of the threads of --task with --deadline. The report is of a run with the proposal.
    #[arg(long, conflicts_with_all = ["sweep", "worst_case", "export"])]
    pub(crate) propose: bool,
    /// With --propose: write what is proposed as a profile, for `whylate plan --profile FILE`
    #[arg(long, value_name = "FILE", requires = "propose")]
    pub(crate) write_profile: Option<PathBuf>,
    /// Of a recording: draw jobs from those that were seen, instead of a replay: for other lengths (--duration) and seeds (--seed)
    ///
    /// Each thread is due by its period, at the distances that were seen, after its own sleep, or by the threads that wake it; a job
    /// keeps its work, locks and sleeps. The report begins with the error of such a run without a change.
    #[arg(long, conflicts_with = "worst_case")]
    pub(crate) mean: bool,
    /// Leave a thread of a recording out (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) remove: Vec<String>,
    /// Multiply a thread's CPU time (repeatable), such as planner=1.2
    #[arg(long, value_name = "NAME=FACTOR", value_parser = WrittenChange::scale)]
    pub(crate) scale: Vec<WrittenChange>,
    /// Add up the most of each interference that the recording shows of the threads of --task: the worst case that has not
    /// happened yet
    #[arg(long, requires = "tasks", conflicts_with_all = ["set", "remove", "scale"])]
    pub(crate) worst_case: bool,
    /// With --worst-case: write a program that tries to make the worst case happen, for `whylate lab exec --dir DIR`
    #[arg(long, value_name = "DIR", requires = "worst_case")]
    pub(crate) provoke: Option<PathBuf>,
}

impl ReplayArgs {
    /// All changes: settings first, so that a removed thread can be named in both.
    pub(crate) fn changes(&self) -> Vec<WrittenChange> {
        let removed = self.remove.iter().map(|target| WrittenChange::remove(target));
        self.set.iter().chain(&self.scale).cloned().chain(removed).collect()
    }

    /// True where an option is given that only a recording has.
    pub(crate) fn is_for_recordings(&self) -> bool {
        self.deadline.is_some() || !self.remove.is_empty() || self.worst_case || self.mean
    }
}

/// A version, and whether its release names PREEMPT_RT.
fn kernel(text: &str) -> Result<(KernelSeries, bool), String> {
    let version =
        text.parse().map_err(|error: whylate_simulate::model::KernelSeriesError| error.to_string())?;
    Ok((version, text.contains("rt")))
}
