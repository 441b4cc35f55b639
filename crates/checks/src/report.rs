//! Puts the rules to a machine.

use crate::{Answer, Ask, Profile, RULES, Rule, Status, Verdict};
use whylate_base::Severity;
use whylate_host::Snapshot;

/// Which of the rules are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// These alone, whatever the profile; empty: those of the profile.
    pub only: Vec<String>,
    /// All but these.
    pub skip: Vec<String>,
}

impl Selection {
    /// The codes that no rule has.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.only.iter().chain(&self.skip).map(String::as_str).filter(|code| explain(code).is_none())
    }

    fn takes(&self, rule: &Rule, ask: &Ask) -> bool {
        let names = |codes: &[String]| codes.iter().any(|code| code == rule.code);
        let wanted = match self.only.is_empty() {
            true => rule.profiles.contains(&ask.profile),
            false => names(&self.only),
        };
        wanted && !names(&self.skip)
    }
}

/// What a machine is, in a few words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// `uname -r`; `None`: not known.
    pub release: Option<String>,
    /// `uname -v`; `None`: not known.
    pub version: Option<String>,
    /// The CPUs online, as a list; `None`: not known.
    pub cpus: Option<String>,
    /// The model, or maker and product; `None`: not known.
    pub model: Option<String>,
}

/// A rule with its verdict.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The rule.
    pub rule: &'static Rule,
    /// For which work.
    pub profile: Profile,
    /// What it says.
    pub verdict: Verdict,
}

impl Answered {
    /// How much it matters: of a failure; of anything else, how much a failure would.
    pub fn severity(&self) -> Severity {
        let own = self.verdict.as_ref().ok().and_then(|answer| answer.severity);
        own.unwrap_or_else(|| self.rule.severity_for(self.profile))
    }

    /// Whether it is not as it should be.
    pub fn failed(&self) -> bool {
        matches!(&self.verdict, Ok(Answer { status: Status::Fail, .. }))
    }
}

/// The answers.
#[derive(Clone, Debug)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// What was asked.
    pub ask: Ask,
    /// Each rule that was asked, in the registry's order.
    pub answers: Vec<Answered>,
}

/// Puts the rules of a selection to a machine.
pub fn check(host: &Snapshot, ask: &Ask, selection: &Selection) -> Report {
    let rules = RULES.iter().copied().filter(|rule| selection.takes(rule, ask));
    let profile = ask.profile;
    let answers = rules.map(|rule| Answered { rule, profile, verdict: (rule.check)(host, ask) }).collect();
    Report { machine: machine(host), ask: ask.clone(), answers }
}

/// The rule of a code.
pub fn explain(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}

fn machine(host: &Snapshot) -> Machine {
    let dmi = &host.platform.dmi;
    let made = || Some(format!("{} {}", dmi.vendor.known()?, dmi.product.known()?));
    Machine {
        release: host.kernel.release.known().cloned(),
        version: host.kernel.version.known().cloned(),
        cpus: host.cpus.online.known().map(ToString::to_string),
        model: host.platform.model.known().cloned().or_else(made),
    }
}
