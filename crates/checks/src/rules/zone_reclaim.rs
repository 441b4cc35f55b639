//! Is local memory reclaimed before memory of another node is used?

use super::shared::hardware::node_count;
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "zone-reclaim",
    title: "Zone reclaim is off",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/sysctl/vm.rst"],
    page: page!("zone-reclaim"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let mode = &host.memory.vm.zone_reclaim_mode;
    match mode.if_present()? {
        None => return Ok(RuleOutcome::pass("The kernel reports no NUMA nodes").shows(mode)),
        Some(0) => {
            return Ok(RuleOutcome::pass("Memory is allocated from another node before any is reclaimed")
                .shows(mode));
        }
        Some(_) => {}
    }
    if node_count(host)? == 1 {
        return Ok(RuleOutcome::pass("There is only one NUMA node").shows(mode));
    }
    Ok(RuleOutcome::fail(
        "A full node reclaims local memory although other nodes have free memory",
        "Allocation reclaims local pages first, and with some modes waits until they are written or swapped out.",
    )
    .shows(mode)
    .fix(
        Fix::runtime("sysctl vm.zone_reclaim_mode=0")
            .boot("vm.zone_reclaim_mode = 0 in /etc/sysctl.d")
            .risk("some memory is then on another node, and access to it takes longer"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const MODE: &str = "/proc/sys/vm/zone_reclaim_mode";
    const NODES: &Files = &[
        ("/sys/devices/system/node/node0/cpulist", "0\n"),
        ("/sys/devices/system/node/node1/cpulist", "1\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("on", &[NODES, &[(MODE, "1\n")]]).fails("full"),
                case("off", &[NODES, &[(MODE, "0\n")]]).passes("another node"),
                case("one node", &[&NODES[..1], &[(MODE, "3\n")]]).passes("one NUMA node"),
                case("not built in", &[&[("/proc/version", "")]]).passes("no NUMA"),
                case("nodes hidden", &[&[(MODE, "1\n")]]).cannot_tell("/sys"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
