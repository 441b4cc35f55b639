//! The desired state of a machine: what a profile asks for, its variables resolved, before the machine is looked at.
//! It has patterns for files, threads and interrupts. A plan is made from it, and made again from it at the next boot.

use crate::sysctl;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A desired setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DesiredSetting {
    /// The settings it selects.
    #[serde(rename = "aim")]
    pub selector: Selector,
    /// The desired value, as a plan writes it; null: a kernel parameter is to be absent, anything else is not to be set.
    pub value: Option<String>,
    /// Why it is desired.
    pub reasons: Reasons,
    /// Where it is written: `realtime.toml [sysctl]`.
    pub origin: String,
    /// Whether an apply goes on without it if it is refused: kernels differ.
    pub optional: bool,
}

/// What a desired setting selects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "aim")]
pub enum Selector {
    /// Kernel files that hold one value each. A sysctl is its file in /proc/sys.
    #[serde(rename = "knob")]
    Tunable {
        /// The absolute path; `*` in a component stands for any characters.
        path: String,
    },
    /// The policy and priority of threads.
    ThreadPolicy {
        /// Which threads.
        threads: ThreadSelector,
    },
    /// The CPUs of threads: a thread keeps those of its CPUs that are in the value. A program's thread that has none
    /// of them, and whose CPUs are not those of process 1 either, was placed on purpose and is skipped; any other gets
    /// the value's CPUs.
    ThreadCpus {
        /// Which threads.
        threads: ThreadSelector,
    },
    /// The CPUs of threads that a fix names: as `thread-cpus`, and also of threads that were placed on purpose.
    ThreadPlacement {
        /// Which threads.
        threads: ThreadSelector,
    },
    /// The CPUs of interrupts: an interrupt keeps those of its CPUs that are in the value; if there are none it gets
    /// the value's CPUs. New interrupts get the value's CPUs.
    Irqs,
    /// A kernel parameter of the next boot. The value is what follows `=`; empty: the parameter has no value.
    Parameter {
        /// Its name, such as `nohz_full`.
        name: String,
    },
    /// Whether a systemd unit runs now: `active` or `inactive`.
    UnitActive {
        /// Its name, such as `irqbalance.service`.
        unit: String,
    },
    /// Whether systemd starts a unit at boot: `enabled`, `disabled` or `masked`.
    UnitEnabled {
        /// Its name.
        unit: String,
    },
    /// A variable in a configuration file of shell assignments, or of `key=value` lines under a `[section]`.
    Variable {
        /// The file.
        file: String,
        /// The section; null in files without sections.
        section: Option<String>,
        /// The variable's name.
        name: String,
    },
    /// A cgroup v2 cpuset partition (`cpuset.cpus.partition`); the value is `isolated CPUS` or `root CPUS`.
    Partition {
        /// The cgroup's path below /sys/fs/cgroup.
        group: String,
    },
    /// A request in /dev/cpu_dma_latency: the exit latency of idle states, in us, that must not be exceeded.
    CpuDmaLatency,
}

/// Threads by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadSelector {
    /// A pattern for the name of a thread; a kernel thread's name is in brackets: `[ktimers/2]`.
    pub named: Pattern,
    /// Exceptions.
    #[serde(default)]
    #[schemars(!default)]
    pub except: Vec<Pattern>,
}

/// A pattern for names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The whole name; `*` stands for any characters.
    Glob(String),
    /// A regular expression for a part of the name, in the syntax that Perl and Python share.
    Regex(String),
}

/// Why a setting is desired, its benefit, and its risk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reasons {
    /// The reason, in one or two sentences; null: none is given.
    pub why: Option<String>,
    /// The code of the check that reads the same setting; null: there is none.
    pub rule: Option<String>,
    /// The measured benefit, with its source; null: unknown.
    pub benefit: Option<String>,
    /// What may go wrong; null: nothing is known.
    pub risk: Option<String>,
}

/// All that a profile asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DesiredState {
    /// The profile's name, `realtime`; of a TuneD profile, `tuned:realtime`.
    pub profile: String,
    /// The variables, each a name and its resolved value.
    #[schemars(with = "Vec<[String; 2]>")]
    pub variables: Vec<(String, String)>,
    /// The settings, in the order in which they are to be made. No two have the same selector: a later one has replaced
    /// the earlier.
    #[serde(rename = "wishes")]
    pub settings: Vec<DesiredSetting>,
    /// What the profile asks for and is not supported: scripts, settings of unknown devices.
    #[serde(rename = "left_out")]
    pub skipped: Vec<Skipped>,
    /// The settings of entries whose condition is false on this machine, or cannot be determined. They are not made, and
    /// each is among those that are skipped, too.
    #[serde(default)]
    #[schemars(!default)]
    pub conditional: Vec<ConditionalSetting>,
}

/// A setting that is made only under a condition which is not met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionalSetting {
    /// The setting, as it would be made.
    pub setting: DesiredSetting,
    /// The condition, and that it is false or why it cannot be determined.
    pub why: String,
}

impl DesiredState {
    /// What is skipped for another reason than a condition: it is not supported, or could not be determined.
    pub fn unsupported(&self) -> impl Iterator<Item = &Skipped> {
        let conditional: Vec<Skipped> = self.conditional.iter().map(ConditionalSetting::skipped).collect();
        self.skipped.iter().filter(move |skipped| !conditional.contains(skipped))
    }
}

impl ConditionalSetting {
    /// The setting with its value, and the condition.
    pub(crate) fn skipped(&self) -> Skipped {
        let what = match &self.setting.value {
            Some(value) if !value.is_empty() => format!("{} = {value}", self.setting.selector),
            _ => self.setting.selector.to_string(),
        };
        Skipped { what, why: self.why.clone() }
    }
}

/// Something that is skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// What: a setting, a path, `[script] script.sh`.
    pub what: String,
    /// Why.
    pub why: String,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Glob(glob) => f.write_str(glob),
            Pattern::Regex(regex) => write!(f, "/{regex}/"),
        }
    }
}

/// The name of the setting that it becomes; of threads, with their pattern.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Tunable { path } => match path.strip_prefix("/proc/sys/") {
                Some(path) => f.write_str(&sysctl::name(path)),
                None => f.write_str(path),
            },
            Selector::ThreadPolicy { threads } => write!(f, "policy of {}", threads.named),
            Selector::ThreadCpus { threads } | Selector::ThreadPlacement { threads } => {
                write!(f, "CPUs of {}", threads.named)
            }
            Selector::Irqs => f.write_str("CPUs of interrupts"),
            Selector::Parameter { name } => write!(f, "kernel parameter {name}"),
            Selector::UnitActive { unit } => write!(f, "{unit} runs"),
            Selector::UnitEnabled { unit } => write!(f, "{unit} at boot"),
            Selector::Variable { file, name, .. } => write!(f, "{name} in {file}"),
            Selector::Partition { group } => write!(f, "cpuset partition {group}"),
            Selector::CpuDmaLatency => f.write_str("request on /dev/cpu_dma_latency"),
        }
    }
}
