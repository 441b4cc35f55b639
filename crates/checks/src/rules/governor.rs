//! Do real-time CPUs run at one speed?

use crate::rule::page;
use crate::survey::survey;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "governor",
    title: "The frequency governor is `performance`",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/pm/cpufreq.rst", "Documentation/admin-guide/pm/intel_pstate.rst"],
    page: page!("governor"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let mut governors = Vec::new();
    let mut without = Vec::new();
    for cpu in cpus.iter() {
        let state = host
            .cpus
            .get(cpu)
            .ok_or_else(|| CannotTell::because(&host.cpus.present.path, format!("CPU {cpu} was not read")))?;
        match state.cpufreq.governor.if_present()? {
            Some(_) => governors.push(&state.cpufreq.governor),
            None => without.push(&state.cpufreq.governor),
        }
    }
    if governors.is_empty() {
        let answer = RuleOutcome::not_applicable(
            "No driver lets the kernel select frequencies: the firmware or the host \
                                             does",
        );
        return Ok(without.iter().take(1).fold(answer, |answer, none| answer.shows(none)));
    }
    let survey = survey("the governors", governors, |governor| governor == "performance")?;
    let Some(first) = survey.wrong.first() else {
        let pass = RuleOutcome::pass("The frequency governor is `performance`");
        return Ok(survey.fine.iter().take(4).fold(pass, |answer, own| answer.shows(own)));
    };
    let answer = RuleOutcome::fail(
        format!("The governor is `{}` on {} of {} CPUs", first.need()?, survey.wrong.len(), cpus.len()),
        "A CPU that was idle runs slowly when a task wakes up: until the governor reacts, the same work takes \
         longer, by the ratio of the frequencies, and the time varies.",
    );
    let answer = survey.wrong.iter().take(8).fold(answer, |answer, own| answer.shows(own));
    Ok(answer.fix(
        Fix::runtime("cpupower frequency-set -g performance")
            .action(Action::tunables(survey.wrong.iter().map(|own| (&own.path, "performance"))))
            .boot("cpufreq.default_governor=performance on the kernel command line (5.9)")
            .risk("more power and heat; the firmware slows down a CPU that gets too hot"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const FIRST: &str = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    const SECOND: &str = "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor";
    const BOTH: &Files = &[(FIRST, "performance\n"), (SECOND, "powersave\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("one saves power", &[TWO_CPUS, BOTH]).fails("`powersave` on 1 of 2"),
                case("not the chosen one", &[TWO_CPUS, BOTH]).cpus("0").passes("performance"),
                case("no driver", &[TWO_CPUS]).does_not_apply("No driver"),
                case("no CPUs", &[&[]]).cannot_tell("online"),
                case("no such CPU", &[TWO_CPUS, BOTH]).cpus("5").cannot_tell("CPU 5"),
            ],
        );
    }
}
