//! Is a CPU left for everything that is not real-time?

use super::shared::cpus::{NO_CPUS_CHOSEN, housekeeping, real_time};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Cpu, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "housekeeping",
    title: "At least one CPU is left for housekeeping, including CPU 0",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &["Documentation/timers/no_hz.rst", "Documentation/admin-guide/kernel-per-CPU-kthreads.rst"],
    page: page!("housekeeping"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let online = &host.cpus.online;
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let rest = housekeeping(host, &cpus)?;
    if rest.is_empty() {
        if online.need()?.len() == 1 {
            return Ok(RuleOutcome::not_applicable("There is only one CPU").shows(online));
        }
        return Ok(RuleOutcome::fail(
            "Every CPU is real-time: no CPU is left for interrupts, timers, RCU and other programs",
            "The kernel's own work then runs on the real-time CPUs, or starves behind real-time threads.",
        )
        .shows(online)
        .shows_as("real-time CPUs", cpus.to_string())
        .fix(
            Fix::runtime("leave CPU 0 out of the real-time CPUs")
                .by_hand("which CPUs are the real-time ones is for the user to choose")
                .risk("one real-time CPU less"),
        ));
    }
    if cpus.contains(Cpu(0)) {
        return Ok(RuleOutcome::fail(
            "CPU 0 is among the real-time CPUs",
            "It is the boot CPU: many devices, timers and firmware interfaces are bound to it, and on many machines \
             only it takes legacy interrupts. On most machines it cannot be nohz_full.",
        )
        .graded(Severity::Info)
        .shows(online)
        .shows_as("real-time CPUs", cpus.to_string())
        .fix(Fix::runtime("choose other CPUs, and keep CPU 0 for housekeeping").by_hand("which CPUs are the real-time ones is for the user to choose").risk("none known")));
    }
    Ok(RuleOutcome::pass(format!("CPUs {rest} are left for housekeeping"))
        .shows(online)
        .shows_as("real-time CPUs", cpus.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ONE: &Files = &[("/sys/devices/system/cpu/online", "0\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("the second", &[TWO_CPUS]).cpus("1").passes("CPUs 0 are left"),
                case("the first", &[TWO_CPUS]).cpus("0").fails_as(Severity::Info, "CPU 0"),
                case("all", &[TWO_CPUS]).cpus("0-1").fails("Every CPU"),
                case("one", &[ONE]).cpus("0").does_not_apply("one CPU"),
                case("by isolcpus", &[TWO_CPUS, &[("/sys/devices/system/cpu/isolated", "1\n")]])
                    .passes("CPUs 0"),
                case("hidden", &[&[]]).cpus("1").cannot_tell("online"),
            ],
        );
    }
}
