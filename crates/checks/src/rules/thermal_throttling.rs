//! Was a CPU slowed down by its firmware?

use super::shared::hardware::{Ground, ground, states};
use crate::rule::page;
use crate::survey::survey;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "thermal-throttling",
    title: "No real-time CPU was throttled by heat",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["Documentation/core-api/real-time/hardware.rst", "drivers/thermal/intel/therm_throt.c"],
    page: page!("thermal-throttling"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let mut counts = Vec::new();
    for state in states(host, &cpus)? {
        for count in [&state.throttling.core, &state.throttling.package] {
            if count.if_present()?.is_some() {
                counts.push(count);
            }
        }
    }
    if counts.is_empty() {
        if let Ground::Guest(_) = ground(host)? {
            return Ok(RuleOutcome::not_applicable(
                "Only the host shows the temperature of a virtual machine's CPUs",
            ));
        }
        let path = "/sys/devices/system/cpu/cpuN/thermal_throttle";
        return Err(CannotTell::because(
            path,
            "this hardware has no throttle count: watch the frequency under load",
        ));
    }
    let survey = survey("the counts", counts, |&count| count == 0)?;
    let Some(first) = survey.wrong.first() else {
        let pass = RuleOutcome::pass(format!("CPUs {cpus} were not throttled since boot"));
        return Ok(survey.fine.iter().take(2).fold(pass, |answer, own| answer.shows(own)));
    };
    let answer = RuleOutcome::fail(
        format!("CPUs were throttled {} times since boot, by the count of one CPU", first.need()?),
        "The hardware then lowers frequency and voltage, or skips clock cycles: the running work takes a multiple of \
         its time, and no kernel setting prevents it.",
    );
    let answer = survey.wrong.iter().take(8).fold(answer, |answer, own| answer.shows(own));
    Ok(answer.fix(
        Fix::runtime(
            "improve the cooling, or limit the frequency to a level that does not overheat: cpupower frequency-set \
             -u MHZ",
        ).by_hand("it is about the hardware or its firmware")
        .boot("the same limit from a systemd unit at boot, or a lower power limit in the firmware")
        .risk("the typical speed falls"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const CORE: &str = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
    const PACKAGE: &str = "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("cool", &[TWO_CPUS, &[(CORE, "0\n"), (PACKAGE, "0\n")]])
                    .cpus("0")
                    .passes("not throttled"),
                case("hot", &[TWO_CPUS, &[(CORE, "0\n"), (PACKAGE, "17\n")]]).cpus("0").fails("17 times"),
                case("a guest", &[TWO_CPUS, &[("/proc/cpuinfo", "flags : hypervisor\n")]])
                    .does_not_apply("host"),
                case("AMD", &[TWO_CPUS, &[("/proc/cpuinfo", "flags : fpu\n")]])
                    .cannot_tell("no throttle count"),
                case("malformed", &[TWO_CPUS, &[(CORE, "many\n")]]).cpus("0").cannot_tell("a number"),
                case("no CPUs", &[&[]]).cannot_tell("online"),
            ],
        );
    }
}
