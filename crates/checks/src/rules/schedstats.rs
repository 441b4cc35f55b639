//! Does the scheduler keep statistics at each switch?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "schedstats",
    title: "Scheduler statistics are off",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/sysctl/kernel.rst", "Documentation/scheduler/sched-stats.rst"],
    page: page!("schedstats"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let stats = &host.sched.schedstats;
    match stats.if_present()? {
        None => Ok(RuleOutcome::not_applicable("This kernel has no scheduler statistics").shows(stats)),
        Some(false) => Ok(RuleOutcome::pass("Scheduler statistics are off").shows(stats)),
        Some(true) => Ok(RuleOutcome::fail(
            "The scheduler keeps statistics at each wake-up and switch",
            "Each one takes a little longer, for statistics that a tool enabled earlier (latencytop, perf sched, a \
             tracer); the kernel leaves them off for that reason.",
        )
        .shows(stats)
        .fix(
            Fix::runtime("sysctl -w kernel.sched_schedstats=0")
                .boot("schedstats=disable on the kernel command line")
                .risk("/proc/schedstat and the waits in /proc/PID/sched are no longer updated"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn cases() {
        const PATH: &str = "/proc/sys/kernel/sched_schedstats";
        table(
            &RULE,
            &[
                case("on", &[&[(PATH, "1\n")]]).fails("statistics"),
                case("off", &[&[(PATH, "0\n")]]).passes("off"),
                case("not built in", &[&[("/proc/stat", "")]]).does_not_apply("no scheduler"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
