//! A scenario: one fault as data: what runs, on which kernels, and the right answers.

mod built_in;
mod check;
mod read;

pub(crate) use check::{ExpectedCulprit, split_setting};
pub use read::{ScenarioError, built_in, find, load};

use crate::pattern::one_matches;
use serde::Deserialize;
use whylate_lab::{Arch, TimeSource};

/// A file of `scenarios`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scenario {
    /// The file's name without its ending.
    #[serde(skip)]
    pub name: String,
    /// The fault, in one line.
    pub title: String,
    /// Arguments of `whylate-inject`, the fault first. `--seed` and, unless given, `--duration` are added.
    pub inject: Vec<String>,
    /// How long the fault lasts.
    #[serde(default = "two_seconds")]
    pub duration: String,
    /// The kernels it applies to, as patterns (`6.12*`, `*-rt`); all by default.
    #[serde(default = "all")]
    pub kernels: Vec<String>,
    /// The architectures of guests that it applies to: `x86_64`, `arm64`; all by default.
    #[serde(default)]
    pub architectures: Vec<String>,
    /// CPUs of the guest.
    #[serde(default = "one")]
    pub cpus: u32,
    /// Whether time is the emulator's own, the default, or the host's.
    #[serde(default)]
    pub time: TimeSource,
    /// Added to the guest's kernel command line.
    #[serde(default)]
    pub append: Vec<String>,
    /// Kernel modules to load with their parameters: `null_blk completion_nsec=3000000`.
    #[serde(default)]
    pub modules: Vec<String>,
    /// Settings written in the guest first: `path = value`; a `?` before the path: where there is one.
    #[serde(default)]
    pub settings: Vec<String>,
    /// More arguments of `whylate record`, such as `--buffer 64`.
    #[serde(default)]
    pub record: Vec<String>,
    /// The recording begins this many milliseconds after the fault, and so misses the threads' beginnings.
    pub record_after_ms: Option<u64>,
    /// The recording ends after this time, also where the fault lasts longer.
    pub record_for: Option<String>,
    /// The host stops the guest for this long now and then, as a hypervisor or firmware does.
    pub stop_ms: Option<u64>,
    /// Each of these argument lists, added to `inject`, is a run of its own: a sweep. It is for faults that strike
    /// by chance: most of its runs make no job late, but at least one must.
    #[serde(default)]
    pub sweep: Vec<Vec<String>>,
    /// A second machine, on a network with this one: `whylate explain --peer` is judged. Both run in the host's time.
    pub peer: Option<PeerMachine>,
    /// The same program with the mend that the first advice names, where that is one of the code.
    pub mended: Option<MendedTwin>,
    /// Part of the quick subset, on the kernels named.
    #[serde(default)]
    pub quick: Vec<String>,
    /// The right answers; the first entry whose kernels match counts.
    pub expect: Vec<Expectation>,
}

/// The mended twin of a scenario: what runs after its advice was followed by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MendedTwin {
    /// Arguments of `whylate-inject` instead of the scenario's own; empty: the same.
    #[serde(default)]
    pub inject: Vec<String>,
    /// On the PREEMPT_RT kernel of the same series.
    #[serde(default)]
    pub preempt_rt: bool,
}

/// The second machine of a scenario, of the same kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PeerMachine {
    /// Arguments of `whylate-inject` there.
    pub inject: Vec<String>,
}

/// The machine that is late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LateMachine {
    /// The one whose recording is explained.
    #[default]
    Own,
    /// The other one.
    Peer,
}

/// The right answers on some kernels.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Expectation {
    /// Patterns, as of the scenario.
    #[serde(default = "all")]
    pub kernels: Vec<String>,
    /// Whether the fault makes the victim late here.
    #[serde(default)]
    pub late: Late,
    /// Of two machines, the one with the fault.
    #[serde(default)]
    pub machine: LateMachine,
    /// The verdicts that are right for the victim's late jobs; the first one is the usual one.
    #[serde(default)]
    pub causes: Vec<String>,
    /// The right culprits, each one of these: `part:culprit`, `thread:PATTERN`, `irq:PATTERN`,
    /// `softirq:PATTERN`, `none` for no culprit. Empty where there is none to name.
    #[serde(default)]
    pub culprits: Vec<String>,
    /// Findings that must be there.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Findings that are true as well, and need not be there; those of `causes` always are.
    #[serde(default)]
    pub may_find: Vec<String>,
    /// Verdicts that are neither right nor wrong: the fault does more than the label shows. Jobs with such
    /// a verdict are set aside, and counted.
    #[serde(default)]
    pub not_judged: Vec<String>,
    /// Findings that must not be there, of any severity.
    #[serde(default)]
    pub no_findings: Vec<String>,
}

/// Whether a fault makes the victim late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Late {
    /// Some jobs must be late; a run without has not provoked the fault.
    #[default]
    Some,
    /// It may be late.
    Maybe,
    /// It must not be late, and no culprit may be named.
    None,
}

impl Scenario {
    /// The source of its time.
    pub fn time(&self) -> TimeSource {
        // In virtual time each of two guests has a clock of its own.
        if self.peer.is_some() { TimeSource::Free } else { self.time }
    }

    /// True when it applies to guests of that architecture.
    pub fn is_for(&self, arch: Arch) -> bool {
        let names = |name: &String| name.parse() == Ok(arch);
        self.architectures.is_empty() || self.architectures.iter().any(names)
    }

    /// True when it applies to the kernel of that name.
    pub fn applies_to(&self, kernel: &str) -> bool {
        one_matches(&self.kernels, kernel) && self.expectation(kernel).is_some()
    }

    /// True when it is part of the quick subset on the kernel of that name.
    pub fn is_quick(&self, kernel: &str) -> bool {
        self.applies_to(kernel) && one_matches(&self.quick, kernel)
    }

    /// The right answers on the kernel of that name.
    pub fn expectation(&self, kernel: &str) -> Option<&Expectation> {
        self.expect.iter().find(|expectation| one_matches(&expectation.kernels, kernel))
    }
}

fn all() -> Vec<String> {
    vec!["*".to_owned()]
}

fn one() -> u32 {
    1
}

fn two_seconds() -> String {
    "2s".to_owned()
}
