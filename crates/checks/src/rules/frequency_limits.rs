//! Is the frequency of real-time CPUs held down?

use super::shared::hardware::states;
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "frequency-limits",
    title: "No limit keeps real-time CPUs below their maximum frequency",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/pm/cpufreq.rst", "Documentation/admin-guide/pm/intel_pstate.rst"],
    page: page!("frequency-limits"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let mut limits = Vec::new();
    for state in states(host, &cpus)? {
        let own = &state.cpufreq;
        if own.driver.if_present()?.is_some() {
            limits.push((
                own,
                *own.scaling_min_khz.need()?,
                *own.scaling_max_khz.need()?,
                *own.hardware_max_khz.need()?,
            ));
        }
    }
    let Some((first, ..)) = limits.first() else {
        return Ok(RuleOutcome::not_applicable("No driver lets the kernel select frequencies"));
    };
    let held: Vec<_> = limits.iter().filter(|(_, _, most, hardware)| most < hardware).collect();
    let Some((worst, _, most, hardware)) = held.first() else {
        let one = limits.iter().all(|(_, least, most, _)| least == most);
        let what = if one {
            "The limits leave only the highest frequency"
        } else {
            "The highest frequency is allowed"
        };
        return Ok(RuleOutcome::pass(what).shows(&first.scaling_min_khz).shows(&first.scaling_max_khz));
    };
    // Without turbo the lower limit is intended.
    if *host.cpus.no_turbo.if_present()?.unwrap_or(&false) || !*host.cpus.boost.if_present()?.unwrap_or(&true)
    {
        return Ok(RuleOutcome::not_applicable("Turbo is off, which also limits the frequency"));
    }
    if held.iter().all(|(_, least, most, _)| least == most) {
        return Ok(RuleOutcome::pass(format!("The frequency is fixed, at {} MHz", most / 1000))
            .shows(&worst.scaling_min_khz)
            .shows(&worst.scaling_max_khz));
    }
    Ok(RuleOutcome::fail(
        format!("{} of {} CPUs may reach only {} of {} MHz", held.len(), cpus.len(), most / 1000, hardware / 1000),
        "A power daemon, a thermal daemon or the firmware limits the frequency. The same work takes longer, and the \
         limit may change with the temperature or the power supply.",
    )
    .shows(&worst.scaling_max_khz)
    .shows(&worst.hardware_max_khz)
    .fix(
        Fix::runtime(format!("echo {hardware} > {}, for each CPU", worst.scaling_max_khz.path))
            .action(Action::tunables(held.iter().map(|(own, _, _, khz)| (&own.scaling_max_khz.path, khz.to_string()))))
            .boot("stop the program that sets it: thermald, power-profiles-daemon, tlp, or change the firmware's \
                   power profile")
            .risk("more heat: without enough cooling the firmware slows down the CPU at any moment"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const DIR0: &Files = &[
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate\n"),
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "800000\n"),
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "3600000\n"),
        ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3600000\n"),
    ];
    const LOW: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2000000\n");
    const ONE: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "2000000\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("all of it", &[TWO_CPUS, DIR0]).passes("highest frequency is allowed"),
                case("held down", &[TWO_CPUS, DIR0, &[LOW]]).fails("2000 of 3600 MHz"),
                case("another CPU", &[TWO_CPUS, DIR0, &[LOW]]).cpus("1").does_not_apply("No driver"),
                case("fixed on purpose", &[TWO_CPUS, DIR0, &[LOW, ONE]]).passes("fixed, at 2000 MHz"),
                case(
                    "without turbo",
                    &[TWO_CPUS, DIR0, &[LOW, ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")]],
                )
                .does_not_apply("Turbo"),
                case("a limit that is no number", &[TWO_CPUS, DIR0, &[(LOW.0, "x")]]).cannot_tell("a number"),
                case("no CPUs", &[&[]]).cannot_tell("online"),
            ],
        );
    }
}
