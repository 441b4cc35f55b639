//! Why a probe could not start.

use std::fmt;
use std::path::{Path, PathBuf};
use whylate_base::{Cpu, CpuSet, Ns};
use whylate_sys::SysError;

/// A probe that could not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// The interval is out of range.
    #[error(
        "an interval of {0} cannot be measured: choose 10 us to 10 s (a shorter one leaves the CPU no time)"
    )]
    Interval(Ns),
    /// Periods that SCHED_DEADLINE does not take.
    #[error(
        "a SCHED_DEADLINE period of {0} cannot be measured: choose 100 us to 4 s (kernel.sched_deadline_period_min_us and _max_us)"
    )]
    Period(Ns),
    /// The parts of a SCHED_DEADLINE period do not fit together.
    #[error(
        "a runtime of {runtime} within {deadline} of every {period} cannot be promised: the runtime is 2 us at least, \
         the deadline no shorter, and the period no shorter than that"
    )]
    Deadline {
        /// CPU time of each period.
        runtime: Ns,
        /// Until when.
        deadline: Ns,
        /// How often.
        period: Ns,
    },
    /// CPUs were chosen for threads that cannot be bound.
    #[error(
        "SCHED_DEADLINE threads cannot be bound to CPUs {0}: the kernel lets them run on all CPUs of their scheduling \
         domain (sched(7)). Leave the CPUs out, or start in a cpuset partition that has only these \
         (cpuset.cpus.partition of cgroup v2)"
    )]
    Unbindable(CpuSet),
    /// The shortest gap is below what reading the clock shows.
    #[error(
        "gaps of {gap} cannot be distinguished from a reading of the clock, which takes {reading} here: choose {enough} or more"
    )]
    Gap {
        /// The shortest that was to count.
        gap: Ns,
        /// From one reading to the next, in the middle of many.
        reading: Ns,
        /// The shortest gap that can be distinguished.
        enough: Ns,
    },
    /// No gap below this counts, so none can be a spike.
    #[error("a threshold of {threshold} is below the shortest gap that counts, {gap}")]
    BelowGap {
        /// The threshold.
        threshold: Ns,
        /// The shortest gap that counts.
        gap: Ns,
    },
    /// The share of time to spin is out of range.
    #[error("{0} % of the time cannot be spent spinning: choose 1 to 100")]
    Duty(u8),
    /// A window is too long or too short.
    #[error(
        "a window of {width} in every {interval} cannot be measured: choose 50 us to half of the interval"
    )]
    Width {
        /// The window.
        width: Ns,
        /// How often.
        interval: Ns,
    },
    /// A period that timerlat does not take.
    #[error("a timerlat period of {0} cannot be measured: choose whole microseconds from 100 us to 1 s")]
    TimerlatPeriod(Ns),
    /// Periods that are to differ from CPU to CPU.
    #[error("all CPUs of timerlat have one period: leave the distance out")]
    TimerlatDistance,
    /// The kernel lacks the tracer.
    #[error(
        "this kernel has no timerlat tracer: it was built without CONFIG_TIMERLAT_TRACER (tracefs's available_tracers \
         does not list it). Measure with --probe timer, which every kernel supports"
    )]
    NoTimerlat,
    /// The kernel's tracer has threads of its own only.
    #[error(
        "timerlat wakes only the kernel's own threads on this kernel: tracefs has no osnoise/per_cpu, which came with Linux 6.5. \
         Measure those (--timerlat kernel)"
    )]
    NoUserWorkload,
    /// Another timerlat or osnoise measures.
    #[error(
        "{tracer} is in use by another program (tracefs's {file} shows it), and all programs that use osnoise or timerlat \
         share one workload and its settings: end that program first (rtla; or, where none runs any more, \
         echo nop > {file}), or measure with --probe timer"
    )]
    TimerlatInUse {
        /// `osnoise` or `timerlat`.
        tracer: String,
        /// Its `current_tracer`, within tracefs.
        file: String,
    },
    /// Tracefs is not available, or refuses what timerlat needs.
    #[error("timerlat cannot be set up: {0}")]
    Tracing(String),
    /// The machine could not be left as it was found.
    #[error("timerlat's settings could not be restored: {why}. Restore them by hand in {}: {remedy}", directory.display())]
    NotRestored {
        /// Why not.
        why: String,
        /// The tracefs they are in.
        directory: PathBuf,
        /// The commands.
        remedy: String,
    },
    /// Nothing would be left to others.
    #[error(
        "spinning without a pause on CPUs {0} leaves no CPU for other work: leave one out, add pauses (--duty 90), or \
         override this check (--force)"
    )]
    WholeMachine(CpuSet),
    /// Little time would be left to others.
    #[error(
        "real-time threads that wake up every {0} on all CPUs leave little time for other work: choose CPUs \
         (--cpus), a longer interval (--interval 50us), or override this check (--force)"
    )]
    NoTimeLeft(Ns),
    /// The kernel would throttle the threads.
    #[error(
        "a real-time thread may use {allowed} % of a CPU (kernel.sched_rt_runtime_us), so the kernel would throttle one \
         that spins {duty} % of the time, and the samples would show that: choose --duty {allowed} or less, or override \
         this check (--force)"
    )]
    Throttled {
        /// What was to be spent spinning, in percent.
        duty: u8,
        /// What may be.
        allowed: u8,
    },
    /// More threads than CPUs, or none.
    #[error("{threads} threads are not possible: one thread measures each CPU, and there are {cpus} CPUs")]
    Threads {
        /// How many were wanted.
        threads: usize,
        /// How many CPUs there are.
        cpus: usize,
    },
    /// The policy is none that this probe runs under.
    #[error("a measuring thread does not run as SCHED_{0}: choose fifo, rr or other")]
    Policy(&'static str),
    /// The priority is out of range.
    #[error("{0} is not a real-time priority: choose 1 to 99")]
    Priority(u32),
    /// The threshold is negative or zero.
    #[error("a threshold of {0} makes every wake-up a spike: choose a positive duration")]
    Threshold(Ns),
    /// More of the worst samples than a measuring thread keeps.
    #[error("{0} worst wake-ups per CPU are too many: choose up to {max}", max = crate::worst::MAX)]
    Worst(usize),
    /// No CPU was chosen.
    #[error("no CPU to measure on: the list is empty")]
    NoCpus,
    /// A chosen CPU cannot be measured.
    #[error("cannot measure on CPU {cpu}: {why}")]
    Cpu {
        /// The CPU.
        cpu: Cpu,
        /// What is wrong with it.
        why: CpuUnusable,
    },
    /// A measuring thread did not reach its first sleep.
    #[error(
        "the measuring thread for CPU {cpu} got no time on it within {waited}: a thread of higher priority holds \
         the CPU; look for it with `ps -eLo pid,tid,cls,rtprio,psr,pcpu,comm --sort=-rtprio`, or choose a higher \
         --priority"
    )]
    NoTime {
        /// The CPU.
        cpu: Cpu,
        /// How long it was waited for.
        waited: Ns,
    },
    /// The thread could not be created.
    #[error("cannot create the measuring thread for CPU {cpu}: {reason}")]
    Thread {
        /// The CPU.
        cpu: Cpu,
        /// The operating system's reason.
        reason: String,
    },
    /// Another call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// What is wrong with a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuUnusable {
    /// The machine does not have it.
    Absent {
        /// Those it has.
        present: CpuSet,
    },
    /// It is offline.
    Offline {
        /// The CPUs that are online.
        online: CpuSet,
    },
    /// The cpuset of this process does not contain it.
    NotAllowed,
    /// The kernel refused, and `/sys` does not show why.
    Refused(SysError),
}

impl fmt::Display for CpuUnusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuUnusable::Absent { present } => write!(f, "this machine has no such CPU; it has {present}"),
            CpuUnusable::Offline { online } => {
                write!(
                    f,
                    "it is offline (online: {online}); `echo 1 > /sys/devices/system/cpu/cpuN/online` as root"
                )
            }
            CpuUnusable::NotAllowed => f.write_str(
                "the cpuset of this process does not contain it; start from a cgroup whose \
                 cpuset.cpus.effective does (cpuset(7))",
            ),
            CpuUnusable::Refused(error) => error.fmt(f),
        }
    }
}

impl CpuUnusable {
    /// Finds out why the kernel refused to bind a thread to `cpu`, from the CPU lists below
    /// `cpus` (`/sys/devices/system/cpu`).
    pub(crate) fn diagnose(cpu: Cpu, refusal: SysError, cpus: &Path) -> Self {
        CpuUnusable::by_lists(cpu, cpus).unwrap_or(CpuUnusable::Refused(refusal))
    }

    /// Why `cpu` cannot be used, by these lists; `None` where they cannot be read.
    pub(crate) fn by_lists(cpu: Cpu, cpus: &Path) -> Option<Self> {
        let list = |name| std::fs::read_to_string(cpus.join(name)).ok()?.trim().parse::<CpuSet>().ok();
        let (present, online) = (list("present")?, list("online")?);
        Some(match (present.contains(cpu), online.contains(cpu)) {
            (false, _) => CpuUnusable::Absent { present },
            (true, false) => CpuUnusable::Offline { online },
            (true, true) => CpuUnusable::NotAllowed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_cpu_is_told_apart_by_the_lists() {
        let dir = std::env::temp_dir().join(format!("whylate-probes-cpus-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("directory");
        std::fs::write(dir.join("present"), "0-3\n").expect("present");
        std::fs::write(dir.join("online"), "0-1,3\n").expect("online");
        let refusal = whylate_sys::setaffinity(whylate_base::Tid(0), &CpuSet::new()).expect_err("empty set");
        let why = |cpu| CpuUnusable::diagnose(Cpu(cpu), refusal.clone(), &dir);
        assert!(matches!(why(4), CpuUnusable::Absent { present } if present.len() == 4));
        assert!(matches!(why(2), CpuUnusable::Offline { online } if online.len() == 3));
        assert_eq!(why(3), CpuUnusable::NotAllowed);
        std::fs::remove_dir_all(&dir).expect("clean up");
        assert_eq!(why(3), CpuUnusable::Refused(refusal.clone()));
    }
}
