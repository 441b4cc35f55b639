//! The arguments of `whylate run`.

use super::output::{OutputArgs, file_of, format_of};
use super::values::some_cpus;
use clap::{ArgGroup, Args};
use std::ffi::OsString;
use whylate_base::{CpuSet, Ns, Policy, Tid, parse_duration};
use whylate_sys::{DeadlineParams, SchedParams};
use whylate_threads::run::{LimitChange, RunReport, RunRequest, RunTarget, ThreadRule, is_group_name};

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
    /// Write what the program has become to standard error, read back from the kernel
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// The program to start, and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

impl RunArgs {
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
