//! The command line of `whylate prove`.

use super::measure::LoadList;
use super::output::{OutputArgs, file_of, format_of};
use super::plan::Wanted;
use super::values::{positive_duration, some_cpus};
use anyhow::{Result, bail};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use whylate_base::{CpuSet, Ns, ParameterAction};
use whylate_ledger::Select;
use whylate_probes::{Ipc, Probe, ProbeKind, Timer, Waker};
use whylate_prove::{ProveReport, Subject};

/// `whylate prove`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<ProveReport>), mut_arg("output", file_of::<ProveReport>), mut_arg("set", |arg| arg.help(SET)))]
pub(crate) struct ProveArgs {
    /// The fixes that a document of `explain`, `check` or `doctor` (--json) advises; `-` reads standard input
    #[arg(long, value_name = "FILE.json", conflicts_with = "tuned")]
    pub(crate) from: Option<PathBuf>,
    /// With --from: this fix of the document (repeatable), by the number that `whylate plan --from` shows; default: the first
    /// of each finding that can be made
    #[arg(long, value_name = "N", requires = "from")]
    pub(crate) fix: Vec<usize>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// Measure the responses of threads of this name, pattern such as 'ctl*', or id (repeatable) [default: with --from the
    /// late threads of the document; with a command all real-time threads of programs]
    #[arg(short, long = "task", value_name = "THREAD", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "probe")]
    tasks: Vec<String>,
    /// A longer response is late; the report counts these
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, conflicts_with = "probe")]
    deadline: Option<Ns>,
    /// Measure a probe, as `whylate measure` does [default where neither threads nor a command are given: timer]
    #[arg(long, value_name = "KIND")]
    probe: Option<ProvingProbe>,
    /// The CPUs that the probe measures [default: all that this process may use]
    #[arg(short, long, value_name = "LIST", value_parser = some_cpus)]
    cpus: Option<CpuSet>,
    /// The time between two wake-ups of the probe [default: 1ms; of busy 10ms]
    #[arg(short, long, value_name = "DURATION", value_parser = positive_duration)]
    interval: Option<Ns>,
    /// The real-time priority of the probe [default: 80]
    #[arg(short, long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=99))]
    priority: Option<u32>,
    /// Run these loads in each round: cpu, memory, cache, io, net, fork, timer, irq, or a command such as "stress-ng --cpu 2"
    #[arg(long, value_name = "LIST|COMMAND", value_parser = super::measure::loads)]
    pub(crate) load: Vec<LoadList>,
    /// A side effect: the time that this shell command takes; it runs again and again in each round
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) throughput: Option<String>,
    /// How long a round is measured
    #[arg(long, value_name = "DURATION", default_value = "4s", value_parser = positive_duration)]
    pub(crate) round: Ns,
    /// The most rounds, a multiple of 4; 8 are measured at least
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = rounds)]
    pub(crate) rounds: usize,
    /// The most time for all rounds; it ends after the block of 4 rounds in which it is over
    #[arg(short, long, value_name = "DURATION", default_value = "10min", value_parser = positive_duration)]
    pub(crate) duration: Ns,
    /// How long each round waits after its command was started, and after the change was made
    #[arg(long, value_name = "DURATION", default_value = "300ms", value_parser = positive_duration)]
    pub(crate) settle: Ns,
    /// Keep the change if it is better and has no side effect: it is then applied as by `whylate apply`
    #[arg(long)]
    pub(crate) keep: bool,
    /// Measure kernel parameters: one round in each boot, and a service of systemd that goes on after each reboot
    ///
    /// The parameters are put into the boot loader's configuration and taken out again, as by `whylate apply` and `whylate
    /// rollback`: before, after, after, before ..., so that 8 rounds take 7 reboots. Two boots more than --rounds are used at most.
    #[arg(long, conflicts_with_all = ["skip_kernel_parameters", "duration"])]
    pub(crate) across_reboots: bool,
    /// With --across-reboots: reboot the machine whenever that is needed, without a question; without it you reboot
    #[arg(long, requires = "across_reboots")]
    pub(crate) reboot: bool,
    /// With --across-reboots: a kernel parameter to measure (repeatable), such as mitigations=off or nosmt
    #[arg(long, value_name = "NAME[=VALUE]", requires = "across_reboots", conflicts_with_all = ["from", "profile", "tuned", "isolated", "set"], value_parser = kernel_parameter)]
    pub(crate) kernel_parameter: Vec<ParameterAction>,
    /// Show how far the proof across reboots is
    #[arg(long, exclusive = true)]
    pub(crate) status: bool,
    /// End the proof across reboots: its parameters and its service are removed
    #[arg(long, exclusive = true)]
    pub(crate) abandon: bool,
    /// Below which root the journals are; for tests
    #[arg(long, value_name = "DIR", hide = true, default_value = "/")]
    pub(crate) journals: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// The command that runs in each round, after `--`: started anew each time, and ended with all that it has started
    #[arg(last = true)]
    pub(crate) command: Vec<OsString>,
}

const SET: &str = "Without a profile: a setting to change (repeatable): a sysctl (kernel.sched_rt_runtime_us=-1), a file of the \
    kernel (/sys/...=0), or what threads of a name get (hog.cpus=1, hog.not-cpus=0, ctl.priority=60, ctl.policy=rr). With a \
    profile: a value for a variable of it";

fn kernel_parameter(text: &str) -> Result<ParameterAction, String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match name.is_empty() || text.contains(char::is_whitespace) {
        true => Err("write one parameter, such as mitigations=off or nosmt".to_owned()),
        false => Ok(ParameterAction { parameter: name.to_owned(), value: Some(value.to_owned()) }),
    }
}

/// `whylate prove-watchdog`, which `whylate prove` starts.
#[derive(Debug, Args)]
pub(crate) struct ProveWatchdogArgs {
    pub(crate) journals: PathBuf,
}

/// The probes of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProvingProbe {
    /// The latency of timed sleeps, as cyclictest
    Timer,
    /// The gaps of a spinning thread, as oslat
    Busy,
    /// The time that one thread needs to wake another, by a pipe
    Ipc,
}

impl ProveArgs {
    /// What is measured; `late` are the threads of the document that are late.
    ///
    /// # Errors
    /// An option of the probe, where threads are measured.
    pub(crate) fn subject(&self, late: &[String]) -> Result<Subject> {
        let named = !self.tasks.is_empty();
        let threads: Vec<Select> = match named {
            true => self.tasks.iter().map(|text| select(text)).collect(),
            false => late.iter().map(|name| Select::Comm(name.clone())).collect(),
        };
        let measures_threads = self.probe.is_none()
            && (!threads.is_empty() || !self.command.is_empty() || self.deadline.is_some());
        if measures_threads {
            let given = [
                ("--cpus", self.cpus.is_some()),
                ("--interval", self.interval.is_some()),
                ("--priority", self.priority.is_some()),
            ];
            if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
                bail!(
                    "{option} is an option of a probe, but threads are measured: add --probe timer, or leave it out"
                );
            }
            return Ok(Subject::Threads { threads, deadline: self.deadline });
        }
        let kind = match self.probe.unwrap_or(ProvingProbe::Timer) {
            ProvingProbe::Timer => ProbeKind::Timer(Timer::default()),
            ProvingProbe::Busy => ProbeKind::Busy { gap: Ns::from_us(1), duty: None },
            ProvingProbe::Ipc => ProbeKind::Ipc { by: Ipc::Pipe, waker: Waker::default() },
        };
        let default = Probe::new(kind);
        Ok(Subject::Probe(Box::new(Probe {
            cpus: self.cpus.clone(),
            interval: self.interval.unwrap_or(default.interval),
            priority: self.priority.unwrap_or(default.priority),
            worst: 5,
            ..default
        })))
    }
}

fn select(text: &str) -> Select {
    match text.contains('*') {
        true => Select::Pattern(text.to_owned()),
        false => Select::parse(text),
    }
}

fn rounds(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(rounds @ 8..=64) if rounds % 4 == 0 => Ok(rounds),
        _ => Err("give a multiple of 4 from 8 to 64".to_owned()),
    }
}
