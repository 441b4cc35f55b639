//! The arguments of `whylate run`.

use super::output::{OutputArgs, file_of, format_of};
use super::values::some_cpus;
use clap::{ArgGroup, Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use whylate_base::{CpuSet, Ns, Policy, Tid, parse_duration};
use whylate_sys::{DeadlineParams, SchedParams};
use whylate_threads::run::{
    CodeLanguage, LimitChange, RunFile, RunReport, RunRequest, RunTarget, ThreadRule, bytes, is_group_name,
};

/// `whylate run`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<RunReport>), mut_arg("output", file_of::<RunReport>))]
#[command(group(ArgGroup::new("policy")))]
pub(crate) struct RunArgs {
    /// SCHED_FIFO with this priority, 1 to 99
    #[arg(long, value_name = "PRIORITY", group = "policy", value_parser = |text: &str| priority(text, "SCHED_FIFO"))]
    fifo: Option<u32>,
    /// SCHED_RR with this priority, 1 to 99
    #[arg(long, value_name = "PRIORITY", group = "policy", value_parser = |text: &str| priority(text, "SCHED_RR"))]
    rr: Option<u32>,
    /// SCHED_OTHER, with this nice value, -20 to 19
    #[arg(long, value_name = "NICE", group = "policy", num_args = 0..=1, default_missing_value = "0",
        allow_negative_numbers = true, value_parser = nice)]
    other: Option<i32>,
    /// SCHED_BATCH
    #[arg(long, group = "policy")]
    batch: bool,
    /// SCHED_IDLE
    #[arg(long, group = "policy")]
    idle: bool,
    /// SCHED_DEADLINE, such as 2ms:5ms:10ms; threads that it starts begin as SCHED_OTHER
    #[arg(long, value_name = "RUNTIME:DEADLINE:PERIOD", group = "policy", value_parser = deadline)]
    deadline: Option<DeadlineParams>,
    /// Run it on these CPUs only, such as 2-3
    #[arg(long, value_name = "CPUS", value_parser = some_cpus)]
    cpus: Option<CpuSet>,
    /// How much the kernel may delay its timers, such as 1us, or nanoseconds; 0: the default. Real-time threads have no slack
    #[arg(long, value_name = "NS", value_parser = nanoseconds)]
    timer_slack: Option<Ns>,
    /// Have its memory come from these NUMA nodes only, such as 0,1
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    memory_node: Vec<u32>,
    /// Set resource limits first: rtprio, memlock, rttime, nice or stack, such as rtprio=80,memlock=unlimited,rttime=200ms
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    limit: Vec<LimitChange>,
    /// Start it in this control group; one that does not exist is made, and removed at the end
    #[arg(long, value_name = "NAME", conflicts_with = "isolated", value_parser = group_name)]
    cgroup: Option<String>,
    /// Start it in a cpuset partition of these CPUs, which is removed at the end (cgroup v2)
    #[arg(long, value_name = "CPUS", value_parser = some_cpus)]
    isolated: Option<CpuSet>,
    /// Lock its memory: only with --print-code, as locks end when a program is executed
    #[arg(long)]
    lock_memory: bool,
    /// Touch this much of its stack first, such as 512K: only with --print-code, as a program is executed with a new stack
    #[arg(long, value_name = "SIZE", value_parser = stack_size)]
    stack_prefault: Option<u64>,
    /// Run it as this user, with no capability left: policy, CPUs and limits are set before
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Request this wake-up latency of idle CPUs while it runs, in microseconds (/dev/cpu_dma_latency)
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(i32).range(0..=2_000_000_000))]
    dma_latency: Option<i32>,
    /// Give the interrupts of a device CPUs, and their threads a priority, while it runs, such as eth0*=fifo:85@3 (repeatable)
    #[arg(long, value_name = "DEVICE=SETTING")]
    irq: Vec<ThreadRule>,
    /// Give threads of this name a setting as they appear, such as ros2_ctl*=fifo:80@3 (repeatable)
    #[arg(long, value_name = "NAME=SETTING")]
    new_threads: Vec<ThreadRule>,
    /// Change the threads of this running process instead of starting a program
    #[arg(short, long, value_name = "PID", conflicts_with = "command", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Option<i32>,
    /// Change running threads of this name (`*`: anything) or id, of --pid or of all processes (repeatable)
    #[arg(long, value_name = "NAME|TID", conflicts_with = "command")]
    task: Vec<String>,
    /// Also start what could starve the machine
    #[arg(long)]
    force: bool,
    /// Try every gate, report the steps, and start nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Read options and the command from this TOML file; those of the command line count
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print a systemd unit that starts the program in the same way, and start nothing
    #[arg(long, conflicts_with_all = ["dry_run", "pid", "task"])]
    pub(crate) print_unit: bool,
    /// Print the calls for the program's own source, in the right order, and start nothing
    #[arg(long, value_name = "LANGUAGE", conflicts_with_all = ["dry_run", "print_unit", "pid", "task"])]
    pub(crate) print_code: Option<Language>,
    /// Write what the program has become to standard error, read back from the kernel
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// The program to start, and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The languages of --print-code.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Language {
    /// C with glibc
    C,
    /// Rust with the crate libc
    Rust,
    /// Python 3
    Python,
}

impl From<Language> for CodeLanguage {
    fn from(language: Language) -> CodeLanguage {
        match language {
            Language::C => CodeLanguage::C,
            Language::Rust => CodeLanguage::Rust,
            Language::Python => CodeLanguage::Python,
        }
    }
}

/// The command line with what a file of --file holds, so that both are checked alike.
///
/// # Errors
/// What is wrong with the file, in a sentence.
pub(super) fn with_file(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let (own, command) = arguments.split_at(end);
    if own.get(1).is_none_or(|verb| verb != "run") {
        return Ok(arguments);
    }
    let Some(path) = file_name(own) else { return Ok(arguments) };
    let failed = |why: String| format!("{}: {why}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| failed(format!("cannot read it: {error}")))?;
    let names = own.iter().filter_map(|word| word.to_str()?.strip_prefix("--"));
    let given: Vec<String> = names.map(|name| name.split('=').next().unwrap_or(name).to_owned()).collect();
    let file = RunFile::parse(&text).map_err(failed)?.without(&given);
    let options = file.options.iter().map(|(name, value)| match value {
        Some(value) => format!("--{name}={value}"),
        None => format!("--{name}"),
    });
    let mut all: Vec<OsString> = own.iter().cloned().chain(options.map(OsString::from)).collect();
    match command.len() > 1 || file.command.is_empty() {
        true => all.extend(command.iter().cloned()),
        false => {
            all.push("--".into());
            all.extend(file.command.iter().map(OsString::from));
        }
    }
    Ok(all)
}

/// The value of `-f` or `--file`.
fn file_name(own: &[OsString]) -> Option<PathBuf> {
    let is_name = |word: &OsString| word == "-f" || word == "--file";
    let next = own.iter().position(is_name).and_then(|at| own.get(at + 1)).map(PathBuf::from);
    next.or_else(|| own.iter().find_map(|word| word.to_str()?.strip_prefix("--file=")).map(PathBuf::from))
}

impl RunArgs {
    /// Whether a program has to be named.
    pub(crate) fn needs_command(&self) -> bool {
        self.target().is_none() && self.print_code.is_none()
    }

    /// The running threads that are to be changed; `None`: a program is to be started.
    pub(crate) fn target(&self) -> Option<RunTarget> {
        let is_given = self.pid.is_some() || !self.task.is_empty();
        is_given.then(|| RunTarget { pid: self.pid.map(Tid), tasks: self.task.clone() })
    }

    /// What is asked for.
    pub(crate) fn request(&self) -> RunRequest {
        RunRequest {
            scheduling: self.scheduling(),
            cpus: self.cpus.clone(),
            timer_slack: self.timer_slack,
            memory_nodes: self.memory_node.clone(),
            limits: self.limit.clone(),
            cgroup: self.cgroup.clone(),
            isolated: self.isolated.clone(),
            lock_memory: self.lock_memory,
            stack_prefault: self.stack_prefault,
            user: self.user.clone(),
            dma_latency_us: self.dma_latency,
            irqs: self.irq.clone(),
            new_threads: self.new_threads.clone(),
            force: self.force,
            verbose: self.verbose,
        }
    }

    fn scheduling(&self) -> Option<SchedParams> {
        let plain = |policy| SchedParams { policy, ..SchedParams::OTHER };
        let fifo = self.fifo.map(SchedParams::fifo);
        let rr = self.rr.map(SchedParams::rr);
        let other = self.other.map(|nice| SchedParams { nice, ..SchedParams::OTHER });
        // A SCHED_DEADLINE thread may create no thread that would inherit its reservation (sched(7)).
        let deadline =
            self.deadline.map(|params| SchedParams { reset_on_fork: true, ..SchedParams::deadline(params) });
        let batch = self.batch.then(|| plain(Policy::Batch));
        let idle = self.idle.then(|| plain(Policy::Idle));
        fifo.or(rr).or(other).or(deadline).or(batch).or(idle)
    }
}

fn priority(text: &str, policy: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=99).contains(number));
    number.ok_or_else(|| format!("{policy} takes a priority of 1 to 99, 99 the highest"))
}

fn group_name(text: &str) -> Result<String, String> {
    match is_group_name(text) {
        true => Ok(text.to_owned()),
        false => Err("it is no control group below the root, such as rt/control".to_owned()),
    }
}

fn stack_size(text: &str) -> Result<u64, String> {
    bytes(text)
}

fn nice(text: &str) -> Result<i32, String> {
    let number = text.parse().ok().filter(|number| (-20..=19).contains(number));
    number.ok_or_else(|| "SCHED_OTHER takes a nice value of -20 to 19, -20 the most favoured".to_owned())
}

/// A duration; a number without a unit is nanoseconds, as `chrt` and the kernel have them.
fn nanoseconds(text: &str) -> Result<Ns, String> {
    match text.parse::<u32>() {
        Ok(ns) => Ok(Ns(ns.into())),
        Err(_) => parse_duration(text).map_err(|error| error.to_string()),
    }
}

fn deadline(text: &str) -> Result<DeadlineParams, String> {
    let parts: Vec<Ns> = text.split(':').map(nanoseconds).collect::<Result<_, _>>()?;
    let [runtime, deadline, period] = parts[..] else {
        return Err("give three durations, such as 2ms:5ms:10ms".to_owned());
    };
    match Ns(1024) <= runtime && runtime <= deadline && deadline <= period {
        true => Ok(DeadlineParams { runtime, deadline, period }),
        false => Err("SCHED_DEADLINE takes 1024 ns <= RUNTIME <= DEADLINE <= PERIOD".to_owned()),
    }
}
