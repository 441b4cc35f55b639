//! One setting of a machine: something with a value that can be read, set, and put back.
//!
//! Every value is a string, so that plans, journals and differences are all of one kind:
//!
//! | setting | value |
//! |---|---|
//! | a tunable | as [`tunable::normal`](whylate_profiles::tunable::normal) has it: trimmed, of a choice the chosen word, of CPU masks the list |
//! | a thread's policy | `fifo 50`, `rr 1`, `other 0`, `batch 0`, `idle` (the number is the nice value there), `deadline RUNTIME DEADLINE PERIOD` in ns |
//! | a thread's CPUs | a list, `0-3,8` |
//! | a kernel parameter | what follows `=`; empty where it has none |
//! | a unit | `active`, `inactive`, `failed`; `enabled`, `disabled`, `masked`, `static` ... |

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use whylate_base::Tid;
use whylate_profiles::Selector;

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Setting {
    /// A kernel file that holds one value.
    #[serde(rename = "knob")]
    Tunable {
        /// Absolute.
        path: String,
    },
    /// A thread's policy and priority.
    ThreadPolicy {
        /// Which.
        thread: ThreadId,
    },
    /// The CPUs a thread may use.
    ThreadCpus {
        /// Which.
        thread: ThreadId,
    },
    /// A kernel parameter of the next boot.
    Parameter {
        /// Its name.
        name: String,
    },
    /// Whether a systemd unit runs.
    UnitActive {
        /// Its name.
        unit: String,
    },
    /// Whether systemd starts a unit at boot.
    UnitEnabled {
        /// Its name.
        unit: String,
    },
    /// A variable of a configuration file.
    Variable {
        /// The file.
        file: String,
        /// Its section; null in files without sections.
        section: Option<String>,
        /// The variable.
        name: String,
    },
    /// A cgroup v2 cpuset partition: `isolated CPUS`, `root CPUS`.
    Partition {
        /// Its path below /sys/fs/cgroup.
        group: String,
    },
    /// The request in /dev/cpu_dma_latency, in us.
    CpuDmaLatency,
}

/// A thread, for as long as it lives: ids are reused, but not with the same start time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ThreadId {
    /// Its process.
    pub pid: i32,
    /// Its own id.
    pub tid: i32,
    /// When it was started, in clock ticks since boot (field 22 of proc_pid_stat(5)).
    pub started: u64,
    /// Its name; a kernel thread's is in brackets.
    pub name: String,
}

impl ThreadId {
    /// Its id, as the scheduler's calls take it.
    pub fn tid(&self) -> Tid {
        Tid(self.tid)
    }
}

impl Setting {
    /// True where it counts only from the next boot on.
    pub fn needs_reboot(&self) -> bool {
        matches!(self, Setting::Parameter { .. })
    }

    /// True where it lasts on its own once it is made: it is a file, or the kernel's for the next boot.
    pub fn is_of_files(&self) -> bool {
        matches!(self, Setting::Parameter { .. } | Setting::Variable { .. } | Setting::UnitEnabled { .. })
    }
}

impl Setting {
    /// What a profile asks for to get this setting; `None`: that depends on a pattern for threads.
    fn selector(&self) -> Option<Selector> {
        Some(match self.clone() {
            Setting::ThreadPolicy { .. } | Setting::ThreadCpus { .. } => return None,
            Setting::Tunable { path } => Selector::Tunable { path },
            Setting::Parameter { name } => Selector::Parameter { name },
            Setting::UnitActive { unit } => Selector::UnitActive { unit },
            Setting::UnitEnabled { unit } => Selector::UnitEnabled { unit },
            Setting::Variable { file, section, name } => Selector::Variable { file, section, name },
            Setting::Partition { group } => Selector::Partition { group },
            Setting::CpuDmaLatency => Selector::CpuDmaLatency,
        })
    }
}

/// Its name, the same each time: what a plan is ordered and compared by.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::ThreadPolicy { thread } => write!(f, "policy of {thread}"),
            Setting::ThreadCpus { thread } => write!(f, "CPUs of {thread}"),
            setting => setting.selector().map_or(Ok(()), |selector| selector.fmt(f)),
        }
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.tid)
    }
}

/// A setting's value as people are shown it; `None`: it is not there.
pub(crate) fn shown(value: Option<&str>) -> String {
    match value {
        None => "absent".to_owned(),
        Some("") => "(empty)".to_owned(),
        Some(value) => value.to_owned(),
    }
}
