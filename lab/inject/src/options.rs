//! The command line: what all faults have in common, and one subcommand per fault.

use crate::rights::Rights;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use whylate_base::{CpuSet, Ns, parse_duration};

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
    /// The CPUs to use, such as 1-3, instead of those this program was started on, which
    /// exclude isolated ones
    #[arg(long, value_name = "LIST", global = true)]
    pub(crate) cpus: Option<CpuSet>,
    /// The length of the run; every thread ends then
    #[arg(long, value_name = "DUR", default_value = "3s", value_parser = parse_duration, global = true)]
    pub(crate) duration: Ns,
    /// The victim's SCHED_FIFO priority
    #[arg(long, value_name = "P", default_value_t = 50,
          value_parser = clap::value_parser!(u32).range(5..=90), global = true)]
    pub(crate) victim_priority: u32,
    /// The victim's policy, where the fault does not determine it; rr has the same priority
    #[arg(long, value_name = "POLICY", value_enum, default_value = "fifo", global = true)]
    pub(crate) victim_policy: VictimPolicy,
    /// The victim's period [default: 10ms, unless the fault needs another]
    #[arg(long, value_name = "DUR", value_parser = parse_duration, global = true)]
    pub(crate) interval: Option<Ns>,
    /// The CPU time of each of the victim's jobs [default: 200us, unless the fault needs another]
    #[arg(long, value_name = "DUR", value_parser = parse_duration, global = true)]
    pub(crate) job: Option<Ns>,
    /// The phase of the victim's wake-ups in its period, on CLOCK_MONOTONIC
    #[arg(long, value_name = "DUR", default_value = "0us", value_parser = parse_duration, global = true)]
    pub(crate) phase: Ns,
    /// The culprit acts once in this time
    #[arg(long, value_name = "DUR", default_value = "250ms", value_parser = parse_duration, global = true)]
    pub(crate) every: Ns,
    /// The length of each burst of the culprit [default: by fault]
    #[arg(long, value_name = "DUR", value_parser = parse_duration, global = true)]
    pub(crate) burst: Option<Ns>,
    /// Jobs done later than this after they were due are listed in the label [default: 1ms, unless
    /// the fault needs another]
    #[arg(long, value_name = "DUR", value_parser = parse_duration, global = true)]
    pub(crate) limit: Option<Ns>,
    /// Other seeds give other names, phases and lengths
    #[arg(long, value_name = "N", default_value_t = 0, global = true)]
    pub(crate) seed: u64,
    /// How long the threads exist, with their names, policies and CPUs, before the first job is due: time to change them
    #[arg(long, value_name = "DUR", default_value = "0s", value_parser = parse_duration, global = true)]
    pub(crate) settle: Ns,
    /// The victim's thread name
    #[arg(long, value_name = "COMM", global = true)]
    pub(crate) victim_name: Option<String>,
    /// The culprit's thread name
    #[arg(long, value_name = "COMM", global = true)]
    pub(crate) culprit_name: Option<String>,
    /// The victim moves to another CPU and back, every few jobs
    #[arg(long, global = true)]
    pub(crate) migrate: bool,
    /// The victim changes its name in the middle of the run
    #[arg(long, global = true)]
    pub(crate) rename: bool,
    /// The victim is a process of its own, forked and executed
    #[arg(long, global = true)]
    pub(crate) fork_exec: bool,
    #[command(flatten)]
    pub(crate) child: ChildArgs,
}

/// Options that this program gives to the victim's process.
#[derive(Args, Debug)]
pub(crate) struct ChildArgs {
    /// Only the victim belongs to this process
    #[arg(long, hide = true, global = true)]
    pub(crate) victim_only: bool,
    /// The victim's first due instant
    #[arg(long, value_name = "NS", hide = true, global = true)]
    pub(crate) start_at: Option<i64>,
    /// The file of logs of the control group to join
    #[arg(long, value_name = "FILE", hide = true, global = true)]
    pub(crate) join_cgroup: Option<PathBuf>,
}

/// The victim's policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VictimPolicy {
    /// SCHED_FIFO
    Fifo,
    /// SCHED_RR
    Rr,
    /// SCHED_OTHER
    Other,
}

/// A thread of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// None of them is delayed
    None,
    /// The first one, which a timer wakes
    Sense,
    /// The second one, which a pipe wakes
    Plan,
    /// The third one, which a packet wakes
    Act,
}

/// What delays the round trip on the master's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MasterFault {
    /// Nothing does
    None,
    /// A thread of higher priority works in bursts when the master is to send
    Send,
    /// A thread of lower priority works in bursts when the answer is to be received
    Receive,
}

/// What delays the round trip on the slave's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SlaveFault {
    /// Nothing does
    None,
    /// A thread of higher priority works in bursts
    Thread,
    /// A thread works in bursts whose priority is below the slave's, but not below that of the device's IRQ thread
    IrqThread,
}

/// The fault.
#[derive(Subcommand, Debug)]
pub(crate) enum Injection {
    /// No fault: a periodic victim alone
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
        /// A SCHED_OTHER thread that never sleeps starves there as well; the fair server runs it
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
    LockChain {
        /// Both locks have priority inheritance: the middle thread has no effect
        #[arg(long)]
        pi: bool,
    },
    /// The lock's owner runs all the time, on another CPU; with one CPU as with --one-cpu
    Contention {
        /// The owner runs on the victim's CPU, without another thread
        #[arg(long)]
        one_cpu: bool,
    },
    /// The job touches memory that is not mapped yet
    PageFault {
        /// Number of pages
        #[arg(long, default_value_t = 1500)]
        pages: usize,
        /// Pages of FILE (or a block device) that were evicted, so that each has to be read
        #[arg(long, requires = "file")]
        major: bool,
        /// The file for --major; at least that many pages long
        #[arg(long)]
        file: Option<PathBuf>,
        /// Touch the pages once before the run, and keep them
        #[arg(long)]
        prefault: bool,
    },
    /// The job reads from a device, past the page cache
    BlockIo {
        /// A file or block device of at least 1 MiB
        #[arg(long)]
        file: PathBuf,
        /// A SCHED_OTHER thread reads, and the victim only works
        #[arg(long)]
        helper: bool,
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
        /// Number of them
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
    /// The stop class halts all CPUs while the clocksource changes, and one CPU arrives late
    StopTask {
        /// Number of pending signals that it drops with interrupts disabled
        #[arg(long, default_value_t = 5_000)]
        signals: u64,
        /// Take another CPU down and up instead, which has other effects too (not CPU 0)
        #[arg(long)]
        hotplug: bool,
    },
    /// A SCHED_OTHER thread writes to a serial port, whose interrupt handler runs for long
    IrqLoad {
        /// The port, nothing attached; the 8250 driver's
        #[arg(long, default_value = "/dev/ttyS1")]
        port: PathBuf,
    },
    /// Many timers expire at one instant, just before the victim is due
    Timers {
        /// Number of them
        #[arg(long, default_value_t = 1500)]
        count: usize,
    },
    /// A SCHED_OTHER thread forks with so many open files that the kernel holds a spinlock for long
    PreemptOff {
        /// Number of files
        #[arg(long, default_value_t = 100_000)]
        files: u64,
    },
    /// A SCHED_OTHER thread drops so many pending signals that the kernel has interrupts disabled for long
    IrqsOff {
        /// Number of signals
        #[arg(long, default_value_t = 5_000)]
        signals: u64,
    },
    /// The victim is SCHED_OTHER in a control group, and its longer jobs overrun the quota
    CgroupQuota {
        /// CPU time in each period (`cpu.max`)
        #[arg(long, value_name = "DUR", default_value = "2ms", value_parser = parse_duration)]
        quota: Ns,
        /// The quota's period
        #[arg(long, value_name = "DUR", default_value = "10ms", value_parser = parse_duration)]
        quota_period: Ns,
    },
    /// The victim requests SCHED_FIFO, is refused, and continues among SCHED_OTHER threads that never sleep
    RtRefused {
        /// Number of them
        #[arg(long, default_value_t = 3)]
        rivals: usize,
        /// Let a control group without real-time runtime refuse it, instead of a missing right
        #[arg(long)]
        rt_group: bool,
    },
    /// A job of the victim overruns RLIMIT_RTTIME and its process is killed
    Rttime {
        /// CPU time without sleeping until SIGXCPU; the next 10 ms are until SIGKILL
        #[arg(long, value_name = "DUR", default_value = "20ms", value_parser = parse_duration)]
        budget: Ns,
    },
    /// The victim stays behind threads that never sleep although CPUs it may use are idle; needs isolated CPUs
    WakePlacement {
        /// Number of them
        #[arg(long, default_value_t = 3)]
        rivals: usize,
    },
    /// The victim's timerfd is in step with the tick: where ticks are all the scheduler's clock has, and --phase lets
    /// each job meet one, RT throttling
    CoarseClock,
    /// Some jobs take longer by themselves, a SCHED_FIFO thread of higher priority delays others
    TwoCauses,
    /// One victim waits for a peer, another for a lock
    TwoVictims,
    /// Three threads in a row (timer, pipe, packet); the victim is the one of them that a thread of higher priority delays
    Pipeline {
        /// The thread that is delayed
        #[arg(long, value_enum, default_value = "act")]
        late: Stage,
    },
    /// The victim waits for packets that are received on another CPU (rps_cpus of lo), where a thread works in bursts
    LatePacket,
    /// The victim waits for a work item that is executed on another CPU, where a thread works in bursts
    WorkItem,
    /// The victim sends a frame in each period to a slave on another machine, and waits for the answer
    Master {
        /// The slave's address
        #[arg(long, value_name = "ADDR", default_value = "10.0.2.2")]
        slave: Ipv4Addr,
        /// What is delayed on this machine
        #[arg(long, value_enum, default_value = "none")]
        late: MasterFault,
    },
    /// The victim answers the frames of a master on another machine, until that ends
    Slave {
        /// What is delayed on this machine
        #[arg(long, value_enum, default_value = "none")]
        late: SlaveFault,
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
            Injection::LockChain { .. } => "lock-chain",
            Injection::Contention { .. } => "contention",
            Injection::PageFault { .. } => "page-fault",
            Injection::BlockIo { .. } => "block-io",
            Injection::Softirq { .. } => "softirq",
            Injection::RelativeSleep => "relative-sleep",
            Injection::OwnWork => "own-work",
            Injection::Fair { .. } => "fair",
            Injection::Yield => "yield",
            Injection::TimerSlack { .. } => "timer-slack",
            Injection::StopTask { .. } => "stop-task",
            Injection::IrqLoad { .. } => "irq-load",
            Injection::Timers { .. } => "timers",
            Injection::PreemptOff { .. } => "preempt-off",
            Injection::IrqsOff { .. } => "irqs-off",
            Injection::CgroupQuota { .. } => "cgroup-quota",
            Injection::RtRefused { .. } => "rt-refused",
            Injection::Rttime { .. } => "rttime",
            Injection::WakePlacement { .. } => "wake-placement",
            Injection::CoarseClock => "coarse-clock",
            Injection::TwoCauses => "two-causes",
            Injection::TwoVictims => "two-victims",
            Injection::Pipeline { .. } => "pipeline",
            Injection::LatePacket => "late-packet",
            Injection::WorkItem => "work-item",
            Injection::Master { .. } => "master",
            Injection::Slave { .. } => "slave",
        }
    }

    /// The victim's period, unless the command line gives one.
    pub(crate) fn usual_interval(&self) -> Ns {
        match self {
            // As in story C: what a tick of 250 Hz takes, so that one phase always meets it.
            Injection::CoarseClock => Ns::from_ms(4),
            // The stop class halts the CPU somewhere in a longer operation: one job or the next meets it.
            Injection::StopTask { hotplug: true, .. } => Ns::from_us(500),
            Injection::WakePlacement { .. } | Injection::Master { .. } | Injection::Slave { .. } => {
                Ns::from_ms(20)
            }
            _ => Ns::from_ms(10),
        }
    }

    /// The victim's CPU time of each job, unless the command line gives one.
    pub(crate) fn usual_job(&self) -> Ns {
        match self {
            Injection::CoarseClock => Ns::from_us(400),
            // Longer than its share of a period.
            Injection::WakePlacement { .. } | Injection::RtRefused { .. } => Ns::from_ms(6),
            // Short beside what an interrupt handler or the stop class takes.
            Injection::IrqLoad { .. } | Injection::StopTask { hotplug: true, .. } => Ns::from_us(50),
            // Two guests share the host's CPUs.
            Injection::Master { .. } | Injection::Slave { .. } => Ns::from_us(50),
            _ => Ns::from_us(200),
        }
    }

    /// The limit of late jobs, unless the command line gives one.
    pub(crate) fn usual_limit(&self) -> Ns {
        match self {
            Injection::IrqLoad { .. } | Injection::StopTask { hotplug: true, .. } => Ns::from_us(150),
            // A job that nothing delays takes its own CPU time, and is not late.
            Injection::WakePlacement { .. } | Injection::RtRefused { .. } => {
                self.usual_job() + Ns::from_ms(1)
            }
            // An undisturbed round trip of two emulated machines takes a millisecond, or several on a busy host.
            Injection::Master { .. } | Injection::Slave { .. } => Ns::from_ms(6),
            _ => Ns::from_ms(1),
        }
    }

    /// The longest time of the preparation, on an emulated CPU.
    pub(crate) fn preparation(&self) -> Ns {
        match self {
            Injection::PreemptOff { files } => Ns::from_us(5 * i64::try_from(*files).unwrap_or(0)),
            // Down and up once.
            Injection::StopTask { hotplug: true, .. } => Ns::from_ms(500),
            _ => Ns::ZERO,
        }
    }

    /// True when the victim must be a process of its own.
    pub(crate) fn needs_process(&self) -> bool {
        matches!(self, Injection::RtRefused { .. } | Injection::Rttime { .. })
    }

    /// The rights of the victim's process, where it is one of its own.
    pub(crate) fn victims_rights(&self) -> Rights {
        match self {
            Injection::RtRefused { rt_group: true, .. } => Rights::RtGroup,
            Injection::RtRefused { rt_group: false, .. } => Rights::AnotherUser,
            _ => Rights::Same,
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
        for name in [
            "nothing",
            "pin-first",
            "relative-sleep",
            "stop-task",
            "rttime",
            "two-victims",
            "master",
            "slave",
        ] {
            let options = Options::try_parse_from(["whylate-inject", name, "--seed", "7"]).expect(name);
            assert_eq!(options.fault.name(), name);
            assert_eq!(options.common.seed, 7);
        }
    }

    #[test]
    fn what_this_program_tells_itself_follows_the_users_arguments() {
        let options = Options::try_parse_from([
            "whylate-inject",
            "rt-refused",
            "--rt-group",
            "--seed",
            "2",
            "--victim-only",
            "--start-at",
            "5000",
            "--join-cgroup",
            "/g/cgroup.procs",
        ])
        .expect("the child's arguments");
        assert!(options.common.child.victim_only);
        assert_eq!(options.common.child.start_at, Some(5_000));
        assert!(options.fault.needs_process());
        assert_eq!(options.fault.victims_rights(), Rights::RtGroup);
    }

    #[test]
    fn major_faults_need_a_file() {
        assert!(Options::try_parse_from(["whylate-inject", "page-fault", "--major"]).is_err());
    }
}
