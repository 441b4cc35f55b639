//! Do nice values count across sessions?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "autogroup",
    title: "Nice values apply across sessions",
    severity: Severity::Info,
    profiles: &[Profile::Audio, Profile::Robotics],
    sources: &["sched(7)", "Documentation/admin-guide/kernel-parameters.rst"],
    page: page!("autogroup"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let autogroup = &host.sched.autogroup;
    match autogroup.if_present()? {
        None => Ok(RuleOutcome::not_applicable("This kernel has no autogroups").shows(autogroup)),
        Some(false) => Ok(RuleOutcome::pass("Autogroups are off").shows(autogroup)),
        Some(true) => Ok(RuleOutcome::fail(
            "Each session competes for the CPU as one unit, whatever the nice values in it",
            "Real-time threads are not affected. A SCHED_OTHER helper at nice -20 competes as one session among \
             others: with a build in the next terminal it gets half of the CPU, not nearly all. systemd services \
             have cgroups of their own, which take precedence.",
        )
        .shows(autogroup)
        .fix(
            Fix::runtime("sysctl -w kernel.sched_autogroup_enabled=0")
                .boot("noautogroup on the kernel command line")
                .risk("a build with many threads then crowds out a desktop"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn cases() {
        const PATH: &str = "/proc/sys/kernel/sched_autogroup_enabled";
        table(
            &RULE,
            &[
                case("on", &[&[(PATH, "1\n")]]).fails("session"),
                case("off", &[&[(PATH, "0\n")]]).passes("off"),
                case("not built in", &[&[("/proc/stat", "")]]).does_not_apply("no autogroups"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
