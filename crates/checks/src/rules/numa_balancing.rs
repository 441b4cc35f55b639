//! Does the kernel make pages fault to see who uses them?

use super::shared::hardware::node_count;
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "numa-balancing",
    title: "Automatic NUMA balancing is off",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/sysctl/kernel.rst", "kernel/sched/fair.c (task_numa_work)"],
    page: page!("numa-balancing"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let setting = &host.sched.watchdogs.numa_balancing;
    match setting.if_present()? {
        None => return Ok(RuleOutcome::pass("The kernel does not support NUMA balancing").shows(setting)),
        Some(0) => return Ok(RuleOutcome::pass("Automatic NUMA balancing is off").shows(setting)),
        Some(_) => {}
    }
    if node_count(host)? == 1 {
        return Ok(RuleOutcome::pass("There is only one NUMA node").shows(setting));
    }
    Ok(RuleOutcome::fail(
        "Automatic NUMA balancing is on",
        "To learn which node uses a page, the kernel repeatedly removes the page's mapping: the next access faults, \
         and may move the page, even if it is locked. Threads that stay on one node get such faults as well.",
    )
    .shows(setting)
    .fix(
        Fix::runtime("sysctl kernel.numa_balancing=0")
            .boot("numa_balancing=disable on the kernel command line, or kernel.numa_balancing = 0 in /etc/sysctl.d")
            .risk("programs that do not place their memory themselves may get slower"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const SETTING: &str = "/proc/sys/kernel/numa_balancing";
    const NODES: &Files = &[
        ("/sys/devices/system/node/node0/cpulist", "0\n"),
        ("/sys/devices/system/node/node1/cpulist", "1\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("on", &[NODES, &[(SETTING, "1\n")]]).fails("is on"),
                case("tiering", &[NODES, &[(SETTING, "2\n")]]).fails("is on"),
                case("off", &[NODES, &[(SETTING, "0\n")]]).passes("off"),
                case("one node", &[&NODES[..1], &[(SETTING, "1\n")]]).passes("one NUMA node"),
                case("not built in", &[NODES, &[("/proc/version", "")]]).passes("does not support"),
                case("nodes hidden", &[&[(SETTING, "1\n")]]).cannot_tell("/sys"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
