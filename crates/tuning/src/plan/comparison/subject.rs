//! What is compared: a setting by what it is on every machine.

use crate::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use whylate_host::Snapshot;
use whylate_profiles::Selector;

/// A setting, by names that mean the same on another machine. Where nothing on a machine matches a pattern, the pattern
/// stands for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ComparedSubject {
    /// A kernel file that holds one value; a sysctl is its file in /proc/sys.
    Tunable {
        /// The absolute path; with `*` where no file matches.
        path: String,
    },
    /// A kernel parameter of the next boot.
    Parameter {
        /// Its name.
        name: String,
    },
    /// The policy and priority of threads.
    ThreadPolicy {
        /// Their name, or the pattern.
        threads: String,
    },
    /// The CPUs of threads.
    ThreadCpus {
        /// Their name, or the pattern.
        threads: String,
    },
    /// The CPUs of interrupts.
    InterruptCpus {
        /// The names of their handlers; `*`: no interrupt is there.
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
    /// A cgroup v2 cpuset partition.
    Partition {
        /// The cgroup's path below /sys/fs/cgroup.
        group: String,
    },
    /// The request in /dev/cpu_dma_latency, in us.
    CpuDmaLatency,
}

impl ComparedSubject {
    /// That of a setting on the machine of `host`.
    pub(super) fn of_setting(setting: &Setting, host: &Snapshot) -> ComparedSubject {
        match setting.clone() {
            Setting::Tunable { path } => match interrupt(&path, host) {
                Some(name) => ComparedSubject::InterruptCpus { name },
                None => ComparedSubject::Tunable { path },
            },
            Setting::ThreadPolicy { thread } => ComparedSubject::ThreadPolicy { threads: thread.name },
            Setting::ThreadCpus { thread } => ComparedSubject::ThreadCpus { threads: thread.name },
            Setting::Parameter { name } => ComparedSubject::Parameter { name },
            Setting::UnitActive { unit } => ComparedSubject::UnitActive { unit },
            Setting::UnitEnabled { unit } => ComparedSubject::UnitEnabled { unit },
            Setting::Variable { file, section, name } => ComparedSubject::Variable { file, section, name },
            Setting::Partition { group } => ComparedSubject::Partition { group },
            Setting::CpuDmaLatency => ComparedSubject::CpuDmaLatency,
        }
    }

    /// That of a selector which comes to nothing on a machine.
    pub(super) fn of_selector(selector: &Selector) -> ComparedSubject {
        match selector.clone() {
            Selector::Tunable { path } => ComparedSubject::Tunable { path },
            Selector::ThreadPolicy { threads } => {
                ComparedSubject::ThreadPolicy { threads: threads.named.to_string() }
            }
            Selector::ThreadCpus { threads } | Selector::ThreadPlacement { threads } => {
                ComparedSubject::ThreadCpus { threads: threads.named.to_string() }
            }
            Selector::Irqs => ComparedSubject::InterruptCpus { name: "*".to_owned() },
            Selector::Parameter { name } => ComparedSubject::Parameter { name },
            Selector::UnitActive { unit } => ComparedSubject::UnitActive { unit },
            Selector::UnitEnabled { unit } => ComparedSubject::UnitEnabled { unit },
            Selector::Variable { file, section, name } => ComparedSubject::Variable { file, section, name },
            Selector::Partition { group } => ComparedSubject::Partition { group },
            Selector::CpuDmaLatency => ComparedSubject::CpuDmaLatency,
        }
    }

    /// Whether it is of the same kind, and a name of this pattern's: then what is known of the pattern holds for it.
    pub(super) fn is_of(&self, pattern: &ComparedSubject) -> bool {
        use ComparedSubject::{InterruptCpus, ThreadCpus, ThreadPolicy, Tunable};
        match (self, pattern) {
            (Tunable { path: own }, Tunable { path: pattern })
            | (ThreadPolicy { threads: own }, ThreadPolicy { threads: pattern })
            | (ThreadCpus { threads: own }, ThreadCpus { threads: pattern })
            | (InterruptCpus { name: own }, InterruptCpus { name: pattern }) => {
                whylate_base::glob(pattern, own)
            }
            _ => self == pattern,
        }
    }
}

/// The handlers of the interrupt that a file in /proc/irq is of.
fn interrupt(path: &str, host: &Snapshot) -> Option<String> {
    let number: u32 = path.strip_prefix("/proc/irq/")?.strip_suffix("/smp_affinity_list")?.parse().ok()?;
    let irq = host.irqs.each.known()?.iter().find(|irq| irq.number == number)?;
    (!irq.actions.is_empty()).then(|| irq.actions.join(", "))
}

/// Its name as a plan has it.
impl fmt::Display for ComparedSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let selector = match self.clone() {
            ComparedSubject::ThreadPolicy { threads } => return write!(f, "policy of {threads}"),
            ComparedSubject::ThreadCpus { threads } => return write!(f, "CPUs of {threads}"),
            ComparedSubject::InterruptCpus { name } => return write!(f, "CPUs of interrupt {name}"),
            ComparedSubject::Tunable { path } => Selector::Tunable { path },
            ComparedSubject::Parameter { name } => Selector::Parameter { name },
            ComparedSubject::UnitActive { unit } => Selector::UnitActive { unit },
            ComparedSubject::UnitEnabled { unit } => Selector::UnitEnabled { unit },
            ComparedSubject::Variable { file, section, name } => Selector::Variable { file, section, name },
            ComparedSubject::Partition { group } => Selector::Partition { group },
            ComparedSubject::CpuDmaLatency => Selector::CpuDmaLatency,
        };
        selector.fmt(f)
    }
}
