//! Does each socket and NUMA node with real-time CPUs keep a CPU for everything else?

use super::shared::common;
use super::shared::cpus::{NO_CPUS_CHOSEN, housekeeping, real_time};
use super::shared::hardware::states;
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use std::collections::BTreeMap;
use whylate_base::{CpuSet, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "housekeeping-per-socket",
    title: "Each socket and NUMA node with real-time CPUs has a housekeeping CPU",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/admin-guide/cputopology.rst",
        "Documentation/admin-guide/mm/numaperf.rst",
        "mm/vmscan.c",
    ],
    page: page!("housekeeping-per-socket"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let rest = housekeeping(host, &cpus)?;
    let online = host.cpus.online.need()?;
    let mut parts: BTreeMap<String, CpuSet> = BTreeMap::new();
    for state in states(host, online)? {
        // -1: the firmware does not describe it.
        if let Some(package) = state.topology.package.if_present()?.filter(|package| **package >= 0) {
            parts.entry(format!("socket {package}")).or_default().insert(state.cpu);
        }
    }
    for node in host.cpus.nodes.if_present()?.into_iter().flatten() {
        let own = common(node.cpus.need()?, online);
        if let Some(number) = node.number().filter(|_| !own.is_empty()) {
            parts.insert(format!("NUMA node {number}"), own);
        }
    }
    let lacks = |own: &CpuSet| !common(own, &cpus).is_empty() && common(own, &rest).is_empty();
    let wrong: Vec<(&String, &CpuSet)> = parts.iter().filter(|(_, own)| lacks(own)).collect();
    if parts.is_empty() {
        return Ok(RuleOutcome::not_applicable("The kernel reports neither sockets nor NUMA nodes"));
    }
    let Some((first, _)) = wrong.first() else {
        return Ok(RuleOutcome::pass(format!(
            "CPUs {rest} are left for housekeeping, in each socket and node of CPUs {cpus}"
        ))
        .shows(&host.cpus.online)
        .shows_as("real-time CPUs", cpus.to_string()));
    };
    let answer = RuleOutcome::fail(
        format!("All CPUs of {first} are real-time: it has no housekeeping CPU"),
        "The interrupts of its devices, its kswapd and kcompactd then run on CPUs of another socket, across the link, or \
         on its real-time CPUs.",
    )
    .shows_as("real-time CPUs", cpus.to_string());
    let answer = wrong
        .iter()
        .take(8)
        .fold(answer, |answer, (name, own)| answer.shows_as((*name).clone(), own.to_string()));
    Ok(answer.fix(
        Fix::reboot(format!("leave one CPU of {first} out of isolcpus=, nohz_full= and the real-time CPUs"))
            .by_hand("which CPUs are the real-time ones is for the user to choose")
            .risk("one real-time CPU less"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const FOUR: &Files = &[
        ("/sys/devices/system/cpu/online", "0-3\n"),
        ("/sys/devices/system/cpu/present", "0-3\n"),
        ("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"),
        ("/sys/devices/system/cpu/cpu1/topology/physical_package_id", "0\n"),
        ("/sys/devices/system/cpu/cpu2/topology/physical_package_id", "1\n"),
        ("/sys/devices/system/cpu/cpu3/topology/physical_package_id", "1\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("one of each", &[FOUR]).cpus("1,3").passes("CPUs 0,2"),
                case("one socket untouched", &[FOUR]).cpus("3").passes("CPUs 0-2"),
                case("a socket without", &[FOUR]).cpus("2-3").fails("socket 1"),
                case("none isolated", &[FOUR, &[("/sys/devices/system/cpu/isolated", "\n")]])
                    .cannot_tell("/proc"),
                case("hidden", &[&[]]).cpus("1").cannot_tell("online"),
            ],
        );
    }
}
