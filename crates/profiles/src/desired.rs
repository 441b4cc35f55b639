//! What a profile asks for, its variables resolved, before anybody looks at what the machine has: patterns for
//! files, threads and interrupts. A plan is made of wishes, and made again of the same ones at the next boot.

use crate::sysctl;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that is to be so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredSetting {
    /// What it is about.
    #[serde(rename = "aim")]
    pub selector: Selector,
    /// How it is to be, in the words of a plan; `None`: it is not to be there (a kernel
    /// parameter), or not to be set.
    pub value: Option<String>,
    /// Why anybody should want it.
    #[serde(default)]
    pub reasons: Reasons,
    /// Where it is written: `realtime.toml [sysctl]`.
    pub origin: String,
    /// A machine without it is no matter: kernels differ in what they have.
    #[serde(default)]
    pub optional: bool,
}

/// What a wish is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "aim")]
pub enum Selector {
    /// Files of the kernel that each hold one value; the path may have `*` in its components. A sysctl is its file
    /// in /proc/sys.
    #[serde(rename = "knob")]
    Tunable {
        /// Absolute.
        path: String,
    },
    /// The policy and priority of threads.
    ThreadPolicy {
        /// Which threads.
        threads: Threads,
    },
    /// The CPUs of threads: those they have now that are among the value's. A program's thread that has none of these,
    /// and not the CPUs of process 1 either, was put elsewhere by somebody and is left alone; any other gets the value's.
    ThreadCpus {
        /// Which threads.
        threads: Threads,
    },
    /// Where interrupts may go: the CPUs they have now that are among the value's, and if there are none, the value's; and where new ones will.
    Irqs,
    /// A kernel parameter from the next boot on. The value is what follows `=`; empty: it has none.
    Parameter {
        /// Its name, such as `nohz_full`.
        name: String,
    },
    /// Whether a unit of systemd runs now: `active` or `inactive`.
    UnitActive {
        /// Its name, such as `irqbalance.service`.
        unit: String,
    },
    /// Whether a unit of systemd is started at boot: `enabled`, `disabled` or `masked`.
    UnitEnabled {
        /// Its name.
        unit: String,
    },
    /// A variable in a configuration file of shell assignments, or of `key=value` lines under a `[section]`.
    Variable {
        /// The file.
        file: String,
        /// The section, in files that have some.
        section: Option<String>,
        /// The variable's name.
        name: String,
    },
    /// A control group of version 2 whose CPUs the scheduler balances on their own (`cpuset.cpus.partition`); the
    /// value is `isolated CPUS` or `root CPUS`.
    Partition {
        /// The group's path below /sys/fs/cgroup.
        group: String,
    },
    /// A request to keep the exit latency of idle states below so many us, held in /dev/cpu_dma_latency.
    CpuDmaLatency,
}

/// Which threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threads {
    /// A pattern for a thread's name; a kernel thread's is put in brackets: `[ktimers/2]`.
    pub named: Pattern,
    /// All but these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Pattern>,
}

/// A pattern for names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The whole name; `*` stands for any characters.
    Glob(String),
    /// A part of the name (TuneD's way). With Perl's syntax, as far as both this and Python know it.
    Regex(String),
}

/// Why a setting should be so, what it brings, and what it may cost. Empty: not said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasons {
    /// In one or two sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The check that looks at the same setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What it brought where somebody measured, with the source; `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benefit: Option<String>,
    /// What may go wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
}

/// All that a profile asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredState {
    /// The profile's name, `realtime`; of TuneD's, `tuned:realtime`.
    pub profile: String,
    /// The variables, as they were resolved, by name.
    pub variables: Vec<(String, String)>,
    /// In the order in which they are to be made. No two have the same aim: a later one has replaced the earlier.
    #[serde(rename = "wishes")]
    pub settings: Vec<DesiredSetting>,
    /// What the profile asks for and is not carried over, with the reason: scripts, settings of devices we do not
    /// know.
    #[serde(default, rename = "left_out")]
    pub skipped: Vec<Skipped>,
}

/// Something that is asked for and will not be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// What: a path, `[script] script.sh`.
    pub what: String,
    /// Why not.
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
            Selector::ThreadCpus { threads } => write!(f, "CPUs of {}", threads.named),
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
