//! The command line: what all faults have in common, and one subcommand per fault.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use whylate_base::{Ns, parse_duration};

/// Provokes one labelled real-time fault and prints its label as JSON.
#[derive(Parser, Debug)]
#[command(version)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) fault: Injection,
}

/// Options of every fault.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// The victim's CPU [default: the last one allowed]
    #[arg(long, value_name = "N", global = true)]
    pub(crate) cpu: Option<u32>,
    /// How long it lasts; every thread ends then
    #[arg(long, value_name = "DUR", default_value = "3s", value_parser = parse_duration, global = true)]
    pub(crate) duration: Ns,
    /// The victim's SCHED_FIFO priority
    #[arg(long, value_name = "P", default_value_t = 50,
          value_parser = clap::value_parser!(u32).range(5..=90), global = true)]
    pub(crate) victim_priority: u32,
    /// The victim's period
    #[arg(long, value_name = "DUR", default_value = "10ms", value_parser = parse_duration, global = true)]
    pub(crate) interval: Ns,
    /// The CPU time of each of the victim's jobs
    #[arg(long, value_name = "DUR", default_value = "200us", value_parser = parse_duration, global = true)]
    pub(crate) job: Ns,
    /// Where in its period, counted on CLOCK_MONOTONIC, the victim wakes
    #[arg(long, value_name = "DUR", default_value = "0us", value_parser = parse_duration, global = true)]
    pub(crate) phase: Ns,
    /// The culprit acts once in this time
    #[arg(long, value_name = "DUR", default_value = "250ms", value_parser = parse_duration, global = true)]
    pub(crate) every: Ns,
    /// For how long the culprit acts each time [default: by fault]
    #[arg(long, value_name = "DUR", value_parser = parse_duration, global = true)]
    pub(crate) burst: Option<Ns>,
    /// Jobs done later than this after they were due are listed in the label
    #[arg(long, value_name = "DUR", default_value = "1ms", value_parser = parse_duration, global = true)]
    pub(crate) limit: Ns,
    /// Other seeds give other names, phases and lengths
    #[arg(long, value_name = "N", default_value_t = 0, global = true)]
    pub(crate) seed: u64,
    /// The victim's thread name
    #[arg(long, value_name = "COMM", global = true)]
    pub(crate) victim_name: Option<String>,
    /// The culprit's thread name
    #[arg(long, value_name = "COMM", global = true)]
    pub(crate) culprit_name: Option<String>,
}

/// What is done to the victim.
#[derive(Subcommand, Debug)]
pub(crate) enum Injection {
    /// Nothing is wrong: a periodic victim alone
    Nothing,
    /// A SCHED_FIFO thread of higher priority works in bursts
    Higher,
    /// A SCHED_FIFO thread of the same priority works in bursts
    Equal,
    /// Victim and culprit are SCHED_RR of the same priority; the culprit works for longer than a slice
    Rr,
    /// SCHED_DEADLINE threads, one per CPU, work in bursts
    Deadline,
    /// A SCHED_FIFO 1 thread never sleeps: RT throttling, or the fair server, or neither
    Throttle {
        /// A SCHED_OTHER thread that never sleeps starves there as well: what the fair server serves
        #[arg(long)]
        starving: bool,
    },
    /// The victim starts while a SCHED_FIFO 1 thread holds its CPU, and pins itself before it raises its priority
    PinFirst {
        /// Raise the priority first, then pin: the right order
        #[arg(long)]
        fixed: bool,
    },
    /// A mutex without priority inheritance, shared with a low thread that a middle one preempts
    Inversion,
    /// The same with a priority-inheriting futex: the wait is bounded
    Pi,
    /// The victim's lock is held by a thread that waits for another lock, whose owner is preempted
    LockChain,
    /// The lock's owner runs all the time, on another CPU
    Contention,
    /// The job touches memory that is not there yet
    PageFault {
        /// How many pages
        #[arg(long, default_value_t = 1500)]
        pages: usize,
        /// Pages of FILE (or a block device) that were evicted, so that each has to be read
        #[arg(long, requires = "file")]
        major: bool,
        /// The file for --major; at least that many pages long
        #[arg(long)]
        file: Option<PathBuf>,
    },
    /// The job reads from a device, past the page cache
    BlockIo {
        /// A file or block device of at least 1 MiB
        #[arg(long)]
        file: PathBuf,
    },
    /// A SCHED_OTHER thread floods the loopback device from the victim's CPU
    Softirq {
        /// Sockets that each packet is delivered to: more make one softirq longer
        #[arg(long, default_value_t = 256)]
        receivers: usize,
    },
    /// The victim sleeps relative to now, and drifts
    RelativeSleep,
    /// One job in several takes far longer
    OwnWork,
    /// The victim is SCHED_OTHER among SCHED_OTHER threads that never sleep
    Fair {
        /// How many of them
        #[arg(long, default_value_t = 3)]
        rivals: usize,
    },
    /// A SCHED_FIFO thread of higher priority waits in a sched_yield loop
    Yield,
    /// The victim is SCHED_OTHER and its timers have this much slack
    TimerSlack {
        /// As of PR_SET_TIMERSLACK
        #[arg(long, value_name = "DUR", default_value = "4ms", value_parser = parse_duration)]
        slack: Ns,
    },
}

impl Injection {
    /// The subcommand's name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Injection::Nothing => "nothing",
            Injection::Higher => "higher",
            Injection::Equal => "equal",
            Injection::Rr => "rr",
            Injection::Deadline => "deadline",
            Injection::Throttle { .. } => "throttle",
            Injection::PinFirst { .. } => "pin-first",
            Injection::Inversion => "inversion",
            Injection::Pi => "pi",
            Injection::LockChain => "lock-chain",
            Injection::Contention => "contention",
            Injection::PageFault { .. } => "page-fault",
            Injection::BlockIo { .. } => "block-io",
            Injection::Softirq { .. } => "softirq",
            Injection::RelativeSleep => "relative-sleep",
            Injection::OwnWork => "own-work",
            Injection::Fair { .. } => "fair",
            Injection::Yield => "yield",
            Injection::TimerSlack { .. } => "timer-slack",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Options::command().debug_assert();
        for name in ["nothing", "pin-first", "relative-sleep"] {
            let options = Options::try_parse_from(["whylate-inject", name, "--seed", "7"]).expect(name);
            assert_eq!(options.fault.name(), name);
            assert_eq!(options.common.seed, 7);
        }
    }

    #[test]
    fn major_faults_need_a_file() {
        assert!(Options::try_parse_from(["whylate-inject", "page-fault", "--major"]).is_err());
    }
}
