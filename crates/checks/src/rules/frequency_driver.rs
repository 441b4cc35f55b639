//! Does a driver let the kernel set the frequency?

use super::shared::hardware::{Ground, ground, states};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "frequency-driver",
    title: "A kernel driver controls the CPU frequency",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/admin-guide/pm/cpufreq.rst",
        "Documentation/core-api/real-time/kernel-configuration.rst",
    ],
    page: page!("frequency-driver"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let states = states(host, &cpus)?;
    let mut without = Vec::new();
    let mut drivers = Vec::new();
    for state in &states {
        match state.cpufreq.driver.if_present()? {
            Some(_) => drivers.push(&state.cpufreq.driver),
            None => without.push(&state.cpufreq.driver),
        }
    }
    let Some(first) = without.first() else {
        return Ok(drivers
            .iter()
            .take(1)
            .fold(RuleOutcome::pass("A driver controls the frequency"), |a, own| a.shows(own)));
    };
    if let Ground::Guest(_) = ground(host)? {
        return Ok(RuleOutcome::not_applicable(
            "The host controls the frequency of a virtual machine's CPUs",
        ));
    }
    Ok(RuleOutcome::fail(
        format!("{} of {} CPUs have no frequency driver", without.len(), states.len()),
        "The firmware alone selects the frequency. Some firmware leaves the CPU at its lowest frequency, some \
         changes it on its own; no file shows either.",
    )
    .shows(first)
    .fix(
        Fix::reboot("let the operating system control performance states (firmware setup), or load the platform's driver").by_hand("it is about the hardware or its firmware")
            .risk("select the governor `performance`: any other varies the speed"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const METAL: (&str, &str) = ("/proc/cpuinfo", "flags : fpu\n");
    const GUEST: (&str, &str) = ("/proc/cpuinfo", "flags : fpu hypervisor\n");
    const FIRST: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "acpi-cpufreq\n");
    const SECOND: (&str, &str) = ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_driver", "acpi-cpufreq\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("both", &[TWO_CPUS, &[FIRST, SECOND, METAL]]).passes("A driver"),
                case("one has none", &[TWO_CPUS, &[FIRST, METAL]]).fails("1 of 2 CPUs"),
                case("the chosen one has", &[TWO_CPUS, &[FIRST, METAL]]).cpus("0").passes("A driver"),
                case("a guest", &[TWO_CPUS, &[GUEST]]).does_not_apply("host"),
                case("guest or not", &[TWO_CPUS]).cannot_tell("/proc"),
                case("no such CPU", &[TWO_CPUS, &[METAL]]).cpus("7").cannot_tell("CPU 7"),
            ],
        );
    }
}
