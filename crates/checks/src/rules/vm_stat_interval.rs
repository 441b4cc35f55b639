//! How often are memory counters collected from each CPU?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "vm-stat-interval",
    title: "Memory statistics are seldom collected from CPUs",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &["Documentation/admin-guide/sysctl/vm.rst", "mm/vmstat.c (vmstat_shepherd)"],
    page: page!("vm-stat-interval"),
    check,
};

/// Seconds, as TuneD's cpu-partitioning has it.
const LEAST: u64 = 10;

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let interval = &host.memory.vm.stat_interval;
    let seconds = *interval.need()?;
    if seconds >= LEAST {
        return Ok(
            RuleOutcome::pass(format!("Memory statistics are collected every {seconds} s")).shows(interval)
        );
    }
    Ok(RuleOutcome::fail(
        format!("Memory statistics are collected from each CPU every {seconds} s"),
        "If a CPU changed a counter, a work item (kworker) runs on it to fold in the difference. On a CPU dedicated \
         to one thread this interrupts the thread and brings the tick back for a while.",
    )
    .shows(interval)
    .fix(
        Fix::runtime(format!("sysctl vm.stat_interval={LEAST}"))
            .boot(format!("vm.stat_interval = {LEAST} in /etc/sysctl.d"))
            .risk("/proc/vmstat is out of date for longer"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const INTERVAL: &str = "/proc/sys/vm/stat_interval";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("usual", &[&[(INTERVAL, "1\n")]]).fails("every 1 s"),
                case("rare", &[&[(INTERVAL, "10\n")]]).passes("every 10 s"),
                case("malformed", &[&[(INTERVAL, "?\n")]]).cannot_tell("a number"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
