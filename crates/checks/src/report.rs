//! Runs the rules on a snapshot of a machine.

use crate::{CheckOptions, Profile, RULES, Rule, RuleOutcome, RuleResult, RuleStatus};
use whylate_base::Severity;
use whylate_host::Snapshot;

/// The selected rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these, whatever the profile; empty: those of the profile.
    pub only: Vec<String>,
    /// Rules to leave out.
    pub skip: Vec<String>,
}

impl Selection {
    /// The unknown codes.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.only.iter().chain(&self.skip).map(String::as_str).filter(|code| explain(code).is_none())
    }

    fn takes(&self, rule: &Rule, options: &CheckOptions) -> bool {
        let names = |codes: &[String]| codes.iter().any(|code| code == rule.code);
        let wanted = match self.only.is_empty() {
            true => rule.profiles.contains(&options.profile),
            false => names(&self.only),
        };
        wanted && !names(&self.skip)
    }
}

/// The identification of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineId {
    /// `uname -r`; `None`: not known.
    pub release: Option<String>,
    /// `uname -v`; `None`: not known.
    pub version: Option<String>,
    /// The CPUs online, as a list; `None`: not known.
    pub cpus: Option<String>,
    /// The model, or maker and product; `None`: not known.
    pub model: Option<String>,
}

/// A rule with its result.
#[derive(Clone, Debug)]
pub struct CheckedRule {
    /// The rule.
    pub rule: &'static Rule,
    /// The profile.
    pub profile: Profile,
    /// The result.
    pub verdict: RuleResult,
}

impl CheckedRule {
    /// The severity of the failure, or of a possible failure.
    pub fn severity(&self) -> Severity {
        let own = self.verdict.as_ref().ok().and_then(|answer| answer.severity);
        own.unwrap_or_else(|| self.rule.severity_for(self.profile))
    }

    /// Whether the rule failed.
    pub fn failed(&self) -> bool {
        matches!(&self.verdict, Ok(RuleOutcome { status: RuleStatus::Fail, .. }))
    }
}

/// The results of a check.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The machine.
    pub machine: MachineId,
    /// The options.
    pub options: CheckOptions,
    /// Each checked rule, in the registry's order.
    pub answers: Vec<CheckedRule>,
}

/// Runs the rules of a selection on a machine.
pub fn check(host: &Snapshot, options: &CheckOptions, selection: &Selection) -> CheckReport {
    let rules = RULES.iter().copied().filter(|rule| selection.takes(rule, options));
    let profile = options.profile;
    let answers =
        rules.map(|rule| CheckedRule { rule, profile, verdict: (rule.check)(host, options) }).collect();
    CheckReport { machine: machine(host), options: options.clone(), answers }
}

/// The rule with this code.
pub fn explain(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}

fn machine(host: &Snapshot) -> MachineId {
    let dmi = &host.platform.dmi;
    let made = || Some(format!("{} {}", dmi.vendor.known()?, dmi.product.known()?));
    MachineId {
        release: host.kernel.release.known().cloned(),
        version: host.kernel.version.known().cloned(),
        cpus: host.cpus.online.known().map(ToString::to_string),
        model: host.platform.model.known().cloned().or_else(made),
    }
}
