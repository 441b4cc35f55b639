//! Do timers of idle CPUs migrate to the real-time CPUs?

use super::shared::cpus::{NO_CPUS_CHOSEN, isolated, real_time, without};
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{KernelVersion, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "timer-migration",
    title: "Timers of other CPUs do not migrate to the real-time CPUs",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/admin-guide/sysctl/kernel.rst",
        "kernel/sched/core.c",
        "kernel/time/timer_migration.c",
        "https://git.kernel.org/torvalds/c/7ee988770326 (the hierarchy of CPUs that serve others' timers, 6.9)",
        "https://git.kernel.org/torvalds/c/7dec062cfcf2 (isolated CPUs leave it, 6.19; what they suffered before)",
    ],
    page: page!("timer-migration"),
    check,
};

/// Since then idle CPUs leave their timers to a CPU that is awake, found by a hierarchy of all CPUs; before, by the
/// scheduling domains.
const HIERARCHY: KernelVersion = KernelVersion::new(6, 9);

/// Since then isolated CPUs are no part of the hierarchy.
const LEFT_OUT: KernelVersion = KernelVersion::new(6, 19);

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let migration = &host.sched.timer_migration;
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    match migration.if_present()? {
        None => {
            return Ok(RuleOutcome::not_applicable("This kernel does not migrate timers").shows(migration));
        }
        Some(false) => {
            return Ok(RuleOutcome::pass("Timers stay on the CPU where they were set").shows(migration));
        }
        Some(true) => {}
    }
    // Isolated CPUs are in no scheduling domain, where a busy CPU is looked for.
    let open = without(&cpus, &isolated(host)?);
    let version = host.kernel.numbers();
    if open.is_empty() && version.as_ref().is_ok_and(|version| (HIERARCHY..LEFT_OUT).contains(version)) {
        return Err(CannotTell::because(
            &migration.path,
            "the setting is 1, and from 6.9 to 6.18 an isolated CPU that is not idle may be chosen for timers of \
             idle CPUs",
        ));
    }
    if open.is_empty() {
        version?;
        return Ok(RuleOutcome::pass(format!("Timers migrate, but not to CPUs {cpus}, which are isolated"))
            .shows(migration)
            .shows(&host.cpus.isolated));
    }
    Ok(RuleOutcome::fail(
        format!("Timers that idle CPUs set may migrate to CPUs {open}"),
        "A timer that is set on an idle CPU moves to a busy one, so that the idle CPU can sleep on: the busy CPU \
         handles its interrupt and its softirq. Driver work started by such timers ran on isolated CPUs for up to \
         1203 us, and for 10 us after timers were kept away (oslat, in commit 7dec062cfcf2).",
    )
    .shows(migration)
    .shows(&host.cpus.isolated)
    .fix(
        Fix::runtime("sysctl -w kernel.timer_migration=0")
            .boot("kernel.timer_migration = 0 in /etc/sysctl.d/")
            .risk("idle CPUs wake up for their timers; measure with the setting you run with"),
    )
    .fix(Fix::reboot(format!("isolcpus=domain,{open} on the kernel command line")).risk("there is no load balancing \
                                                                                         there")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ON: &Files = &[("/proc/sys/kernel/timer_migration", "1\n")];
    const OFF: &Files = &[("/proc/sys/kernel/timer_migration", "0\n")];
    const NONE: &Files = &[("/sys/devices/system/cpu/isolated", "\n"), ("/proc/self/mounts", "")];
    const SECOND: &Files = &[("/sys/devices/system/cpu/isolated", "1\n"), ("/proc/self/mounts", "")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("off", &[TWO_CPUS, NONE, OFF]).cpus("1").passes("stay"),
                case("isolated", &[KERNEL_6_1, TWO_CPUS, SECOND, ON]).passes("not to CPUs 1"),
                case("isolated, 6.12", &[KERNEL_6_12, TWO_CPUS, SECOND, ON]).cannot_tell("6.9"),
                case("isolated, 7.2", &[KERNEL_7_2_RT, TWO_CPUS, SECOND, ON]).passes("not to CPUs 1"),
                case("isolated, version not known", &[TWO_CPUS, SECOND, ON]).cannot_tell("osrelease"),
                case("not isolated", &[TWO_CPUS, NONE, ON]).cpus("1").fails("CPUs 1"),
                case("not built in", &[TWO_CPUS, NONE]).cpus("1").does_not_apply("does not migrate"),
                case("isolation not known", &[TWO_CPUS, ON]).cpus("1").cannot_tell("isolated"),
            ],
        );
    }
}
