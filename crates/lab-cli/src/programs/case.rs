//! A case: one fault made by programs, or a healthy load, as data.

use crate::pattern::one_matches;
use serde::Deserialize;
use whylate_base::{Ns, parse_duration};

/// A file of `programs`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Case {
    /// The file's name without its ending.
    #[serde(skip)]
    pub name: String,
    /// The fault, in one line.
    pub title: String,
    /// The programs that make the fault, or that are late.
    pub programs: Vec<String>,
    /// Their packages.
    pub packages: Vec<String>,
    /// The kernels it runs on, as patterns (`6.12*`, `*-rt`); all by default.
    #[serde(default = "all")]
    pub kernels: Vec<String>,
    /// CPUs of the guest.
    #[serde(default = "one")]
    pub cpus: u32,
    /// Added to the guest's kernel command line.
    #[serde(default)]
    pub append: Vec<String>,
    /// Kernel modules to load with their parameters.
    #[serde(default)]
    pub modules: Vec<String>,
    /// Runs in the guest before the script, without the fault and without a recording; its files are in `control/`.
    #[serde(default)]
    pub control: Option<String>,
    /// Runs in the guest, recorded from its start to its end (bash, in a directory of its own).
    pub script: String,
    /// Runs in the guest after the script, in the same directory: exit code 0 if the fault took place.
    #[serde(default)]
    pub truth: Option<String>,
    /// The late threads, by name.
    pub victims: Vec<String>,
    /// Which activations of the victims are judged.
    #[serde(default)]
    pub judged: Victims,
    /// A response from here on is late.
    #[serde(default = "one_ms")]
    pub late: String,
    /// The first and the last activation of a victim, its start and its end, are judged as well.
    #[serde(default)]
    pub edges: bool,
    /// The faults, each of which must be found; none in a healthy run.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Causes and findings that are true as well, and count as neither right nor wrong.
    #[serde(default)]
    pub may: Vec<String>,
    /// Causes and findings that are false, of however short a delay.
    #[serde(default)]
    pub not: Vec<String>,
}

/// A fault with its right answers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fault {
    /// The kernels on which it takes place, as patterns.
    #[serde(default = "all")]
    pub kernels: Vec<String>,
    /// The right causes, or codes of findings, the usual one first.
    pub causes: Vec<String>,
    /// The right culprits: `thread:PATTERN`, `irq:PATTERN`, `softirq:PATTERN`, or `none`. Empty where there is none to
    /// name.
    #[serde(default)]
    pub culprits: Vec<String>,
    /// Threads (patterns) one of which, or all together, had the CPU for most of one late wait of a victim.
    #[serde(default)]
    pub had_cpu: Vec<String>,
}

/// A choice of activations by their priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Victims {
    /// All of them.
    #[default]
    Any,
    /// Those with a real-time priority: a program that begins as SCHED_OTHER has others too.
    Realtime,
}

impl Case {
    /// True when it runs on the kernel of that name.
    pub fn applies_to(&self, kernel: &str) -> bool {
        one_matches(&self.kernels, kernel) && (self.is_healthy() || self.faults_on(kernel).next().is_some())
    }

    /// True where no thread may be accused.
    pub fn is_healthy(&self) -> bool {
        self.faults.is_empty()
    }

    /// The faults that take place on the kernel of that name.
    pub fn faults_on<'a>(&'a self, kernel: &'a str) -> impl Iterator<Item = &'a Fault> {
        self.faults.iter().filter(move |fault| one_matches(&fault.kernels, kernel))
    }

    /// A response from here on is late.
    pub fn late(&self) -> Ns {
        // Checked when the case was read.
        parse_duration(&self.late).unwrap_or(Ns::from_ms(1))
    }
}

fn all() -> Vec<String> {
    vec!["*".to_owned()]
}

fn one() -> u32 {
    1
}

fn one_ms() -> String {
    "1ms".to_owned()
}
