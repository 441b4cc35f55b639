//! Facts a recording carries that no event shows: policies, settings, the kernel's build.
//!
//! `whylate record` writes them as lines into its own trace instance's `trace_marker`
//! when it starts, so they travel inside the file and every reader still opens it.
//! A line is `whylate: key value...` and fits a [`Marker`].

use crate::{Marker, Symbol};
use std::fmt;
use whylate_base::{Comm, CpuSet, Policy, Tid};

/// What every fact's line starts with.
pub const FACT_PREFIX: &str = "whylate: ";

/// One line of what was true when the recording began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A real-time thread's policy and user priority (0 for SCHED_DEADLINE).
    Policy {
        /// The thread.
        tid: Tid,
        /// FIFO, RR or DEADLINE.
        policy: Policy,
        /// 1 to 99 as the user sees it.
        priority: u32,
        /// Its name then.
        comm: Comm,
    },
    /// `kernel.sched_rt_runtime_us`; -1 is no limit.
    RtRuntimeUs(i64),
    /// `kernel.sched_rt_period_us`.
    RtPeriodUs(i64),
    /// Whether the kernel has CONFIG_RT_GROUP_SCHED, and so still throttles after 6.12.
    RtGroupSched(bool),
    /// Whether the kernel is PREEMPT_RT.
    PreemptRt(bool),
    /// The fair server's runtime per period in ns on all CPUs (0: off), where it could be read.
    FairServerNs(u64),
    /// Whether the machine is a guest of a hypervisor.
    Hypervisor(bool),
    /// A thread of the workload that was recorded (COMMAND and what it started).
    Workload {
        /// The thread.
        tid: Tid,
    },
    /// The CPUs a thread may use (`sched_getaffinity(2)`), at the time of the line. A list that does not fit
    /// a marker is not written.
    Affinity {
        /// The thread.
        tid: Tid,
        /// Its CPUs.
        cpus: CpuSet,
    },
    /// The CPUs among which the scheduler does not balance (`/sys/devices/system/cpu/isolated`).
    Isolated(CpuSet),
    /// CPUs whose events were recorded; the union of all such lines is all of them. Without a line all CPUs were recorded.
    RecordedCpus(CpuSet),
    /// A loaded module that is not from the kernel's tree, or taints it otherwise (`/proc/modules`).
    TaintedModule {
        /// Its name.
        name: String,
        /// The letters of its taint, such as `POE` (`Documentation/admin-guide/tainted-kernels.rst`).
        taints: String,
    },
    /// The thread of the line begins a callback of its program: one that serves several callbacks is a hop of several chains.
    Callback {
        /// What it is called.
        name: Symbol,
    },
}

impl Fact {
    /// Reads a marker's text; `None` when another program wrote it, or a later version.
    pub fn parse(marker: &str) -> Option<Fact> {
        let mut words = marker.strip_prefix(FACT_PREFIX)?.split_ascii_whitespace();
        let key = words.next()?;
        let mut number = || words.next()?.parse::<i64>().ok();
        Some(match key {
            "policy" => {
                let tid = Tid(number()?.try_into().ok()?);
                let policy = Policy::from_name(words.next()?)?;
                let priority = words.next()?.parse().ok()?;
                let comm = words.collect::<Vec<_>>().join(" ");
                Fact::Policy { tid, policy, priority, comm: Comm::from(comm.as_str()) }
            }
            "sched_rt_runtime_us" => Fact::RtRuntimeUs(number()?),
            "sched_rt_period_us" => Fact::RtPeriodUs(number()?),
            "rt_group_sched" => Fact::RtGroupSched(number()? != 0),
            "preempt_rt" => Fact::PreemptRt(number()? != 0),
            "fair_server_ns" => Fact::FairServerNs(number()?.try_into().ok()?),
            "hypervisor" => Fact::Hypervisor(number()? != 0),
            "workload" => Fact::Workload { tid: Tid(number()?.try_into().ok()?) },
            "affinity" => {
                let tid = Tid(number()?.try_into().ok()?);
                Fact::Affinity { tid, cpus: words.next()?.parse().ok()? }
            }
            "isolated" => Fact::Isolated(words.next()?.parse().ok()?),
            "recorded_cpus" => Fact::RecordedCpus(words.next()?.parse().ok()?),
            "tainted_module" => {
                Fact::TaintedModule { name: words.next()?.to_owned(), taints: words.next()?.to_owned() }
            }
            "callback" => Fact::Callback { name: marker.split_once("callback ")?.1.into() },
            _ => return None,
        })
    }
}

impl Fact {
    /// The lines that name all recorded CPUs, each of which fits a marker.
    pub fn recorded_cpus(cpus: &CpuSet) -> Vec<Fact> {
        let mut lines = Vec::new();
        let mut line = CpuSet::new();
        for cpu in cpus.iter() {
            let before = line.clone();
            line.insert(cpu);
            if !Fact::RecordedCpus(line.clone()).fits() {
                lines.push(Fact::RecordedCpus(before));
                line = [cpu].into_iter().collect();
            }
        }
        lines.push(Fact::RecordedCpus(line));
        lines
    }

    /// True when its line fits a marker: a list of CPUs may not.
    pub fn fits(&self) -> bool {
        let line = self.to_string();
        Marker::from(line.as_str()).as_str() == line
    }
}

/// The line as it is written to `trace_marker`.
impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(FACT_PREFIX)?;
        match self {
            Fact::Policy { tid, policy, priority, comm } => {
                write!(f, "policy {tid} {} {priority} {comm}", policy.name())
            }
            Fact::RtRuntimeUs(us) => write!(f, "sched_rt_runtime_us {us}"),
            Fact::RtPeriodUs(us) => write!(f, "sched_rt_period_us {us}"),
            Fact::RtGroupSched(on) => write!(f, "rt_group_sched {}", u8::from(*on)),
            Fact::PreemptRt(on) => write!(f, "preempt_rt {}", u8::from(*on)),
            Fact::FairServerNs(ns) => write!(f, "fair_server_ns {ns}"),
            Fact::Hypervisor(on) => write!(f, "hypervisor {}", u8::from(*on)),
            Fact::Workload { tid } => write!(f, "workload {tid}"),
            Fact::Affinity { tid, cpus } => write!(f, "affinity {tid} {cpus}"),
            Fact::Isolated(cpus) => write!(f, "isolated {cpus}"),
            Fact::RecordedCpus(cpus) => write!(f, "recorded_cpus {cpus}"),
            Fact::TaintedModule { name, taints } => write!(f, "tainted_module {name} {taints}"),
            Fact::Callback { name } => write!(f, "callback {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Cpu;

    #[test]
    fn facts_survive_the_marker() {
        for fact in [
            Fact::Policy {
                tid: Tid(4194304),
                policy: Policy::Deadline,
                priority: 99,
                comm: "a name, 15 long".into(),
            },
            Fact::RtRuntimeUs(-1),
            Fact::RtPeriodUs(1_000_000),
            Fact::RtGroupSched(true),
            Fact::PreemptRt(false),
            Fact::FairServerNs(50_000_000),
            Fact::Hypervisor(true),
            Fact::Workload { tid: Tid(7) },
            Fact::Affinity { tid: Tid(4194304), cpus: "1,3-63".parse().expect("a list") },
            Fact::Isolated("2-3".parse().expect("a list")),
            Fact::RecordedCpus("0,2-3".parse().expect("a list")),
            Fact::TaintedModule { name: "nvidia_modeset".to_owned(), taints: "POE".to_owned() },
            Fact::Callback { name: "a callback of 39 bytes, with blanks in it".into() },
        ] {
            assert!(fact.fits(), "{fact}");
            let line = Marker::from(fact.to_string().as_str());
            assert_eq!(Fact::parse(line.as_str()), Some(fact));
        }
        let odd: CpuSet = (0..40).map(|n| Cpu(2 * n)).collect();
        assert!(!Fact::Affinity { tid: Tid(1), cpus: odd.clone() }.fits());
        let lines = Fact::recorded_cpus(&odd);
        assert!(lines.len() > 1 && lines.iter().all(Fact::fits), "{lines:?}");
        let named = lines.iter().flat_map(|line| match line {
            Fact::RecordedCpus(cpus) => cpus.iter().collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        assert_eq!(named.collect::<CpuSet>(), odd);
        assert_eq!(Fact::parse("hello"), None);
        assert_eq!(Fact::parse("whylate: from_the_future 1"), None);
        assert_eq!(Fact::parse("whylate: sched_rt_runtime_us"), None);
        assert_eq!(Fact::parse("whylate: affinity 7"), None);
        assert_eq!(Fact::parse("whylate: affinity 7 3-1"), None);
    }
}
