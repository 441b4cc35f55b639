//! Does the tick interrupt the real-time CPUs, or does keeping it away cost more?

use super::shared::common;
use super::shared::cpus::{NO_CPUS_CHOSEN, real_time, without};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, CpuSet, ParameterAction, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "nohz-full",
    title: "The tick is off where threads poll, and on where they sleep",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &["Documentation/timers/no_hz.rst", "Documentation/core-api/real-time/kernel-configuration.rst"],
    page: page!("nohz-full"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let full = &host.cpus.nohz_full;
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    // The file is there on every kernel that could do it.
    let set = full.if_present()?.cloned().unwrap_or_else(CpuSet::new);
    let polling = matches!(
        options.profile,
        Profile::CpuPartitioning | Profile::RealtimeVirtualHost | Profile::RealtimeVirtualGuest
    );
    let (ticking, tickless) = (without(&cpus, &set), common(&cpus, &set));
    if polling && !ticking.is_empty() {
        return Ok(RuleOutcome::fail(
            format!("The tick interrupts CPUs {ticking}"),
            "A thread that never sleeps is interrupted CONFIG_HZ times a second, although no other thread waits for \
             its CPU.",
        )
        .shows(full)
        .fix(
            Fix::reboot(format!("nohz_full={cpus} on the kernel command line"))
                .risk("every system call and interrupt on these CPUs takes longer; the kernel needs CONFIG_NO_HZ_FULL"),
        ));
    }
    if !polling && !tickless.is_empty() {
        return Ok(RuleOutcome::fail(
            format!("CPUs {tickless} are nohz_full"),
            "nohz_full is meant for threads that compute without end. Each kernel entry and exit costs time \
             accounting, which a thread that sleeps and wakes up every period pays twice a period; the kernel's \
             guide for real-time builds advises against it.",
        )
        .shows(full)
        .fix(Fix::reboot("remove nohz_full=, unless threads there rarely enter the kernel").action(Action::KernelParameter { set: vec![ParameterAction { parameter: "nohz_full".to_owned(), value: None }] }).risk("the tick comes back")));
    }
    let what = if polling { "has no tick while one thread runs" } else { "has its usual tick" };
    Ok(RuleOutcome::pass(format!("Each of CPUs {cpus} {what}")).shows(full))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const FULL: &Files = &[("/sys/devices/system/cpu/nohz_full", "1\n")];
    const NONE: &Files = &[("/sys/devices/system/cpu/nohz_full", "(null)\n")];

    #[test]
    fn cases() {
        let polling = Profile::CpuPartitioning;
        table(
            &RULE,
            &[
                case("a period", &[TWO_CPUS, NONE]).cpus("1").passes("usual tick"),
                case("a period without a tick", &[TWO_CPUS, FULL]).cpus("1").fails("CPUs 1 are nohz_full"),
                case("another CPU has none", &[TWO_CPUS, FULL]).cpus("0").passes("usual"),
                case("polling", &[TWO_CPUS, FULL]).cpus("1").profile(polling).passes("no tick"),
                case("polling with a tick", &[TWO_CPUS, NONE])
                    .cpus("1")
                    .profile(polling)
                    .fails("The tick interrupts CPUs 1"),
                case("not built in", &[TWO_CPUS]).cpus("1").profile(polling).fails("CPUs 1"),
                case("malformed", &[TWO_CPUS, &[("/sys/devices/system/cpu/nohz_full", "x\n")]])
                    .cpus("1")
                    .cannot_tell("nohz_full"),
                case("hidden", &[&[]]).cpus("1").cannot_tell("online"),
            ],
        );
    }
}
