//! Is the hardware configured for low latency?

use super::shared::hardware::states;
use crate::rule::page;
use crate::survey::survey;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "energy-preference",
    title: "The hardware energy preference is performance",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/admin-guide/pm/intel_pstate.rst",
        "Documentation/admin-guide/pm/amd-pstate.rst",
    ],
    page: page!("energy-preference"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let mut preferences = Vec::new();
    for state in states(host, &cpus)? {
        let own = &state.cpufreq.energy_preference;
        if own.if_present()?.is_some() {
            preferences.push(own);
        }
    }
    if preferences.is_empty() {
        return Ok(RuleOutcome::not_applicable("The hardware has no energy preference here"));
    }
    // The name of the value 0.
    let survey = survey("the preferences", preferences, |own| own == "performance" || own == "0")?;
    let Some(first) = survey.wrong.first() else {
        let pass = RuleOutcome::pass("The energy preference is `performance`");
        return Ok(survey.fine.iter().take(4).fold(pass, |answer, own| answer.shows(own)));
    };
    let answer = RuleOutcome::fail(
        format!(
            "The energy preference is `{}` on {} of {} CPUs",
            first.need()?,
            survey.wrong.len(),
            cpus.len()
        ),
        "The hardware raises the frequency late and lowers it early, to save energy, and wakes from idle at a low \
         frequency. The governor does not control this.",
    );
    let answer = survey.wrong.iter().take(8).fold(answer, |answer, own| answer.shows(own));
    Ok(answer.fix(
        Fix::runtime(format!("echo performance > {}, for each CPU", first.path))
            .action(Action::tunables(survey.wrong.iter().map(|own| (&own.path, "performance"))))
            .boot("select the governor `performance`, which also sets the preference with intel_pstate")
            .risk("more power and heat"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const FIRST: &str = "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference";
    const SECOND: &str = "/sys/devices/system/cpu/cpu1/cpufreq/energy_performance_preference";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("performance", &[TWO_CPUS, &[(FIRST, "performance\n"), (SECOND, "0\n")]])
                    .passes("performance"),
                case("balanced", &[TWO_CPUS, &[(FIRST, "performance\n"), (SECOND, "balance_performance\n")]])
                    .fails("`balance_performance` on 1 of 2"),
                case("not the chosen one", &[TWO_CPUS, &[(FIRST, "0\n"), (SECOND, "power\n")]])
                    .cpus("0")
                    .passes("pref"),
                case("no such thing", &[TWO_CPUS]).does_not_apply("no energy preference"),
                case("no CPUs", &[&[]]).cannot_tell("online"),
            ],
        );
    }
}
