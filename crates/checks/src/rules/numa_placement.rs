//! Are the real-time CPUs on one node, with memory of its own?

use super::shared::common;
use super::shared::cpus::{NO_CPUS_CHOSEN, real_time};
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{Node, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "numa-placement",
    title: "The real-time CPUs are on one NUMA node, which has memory",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &["numa(7)", "Documentation/admin-guide/mm/numaperf.rst"],
    page: page!("numa-placement"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let Some(nodes) = host.cpus.nodes.if_present()? else {
        return Ok(RuleOutcome::not_applicable("The kernel reports no NUMA nodes"));
    };
    let mut concerned = Vec::new();
    let mut empty = Vec::new();
    for node in nodes {
        if common(node.cpus.need()?, &cpus).is_empty() {
            continue;
        }
        if node.memory.need()?.0 == 0 {
            empty.push(node);
        }
        concerned.push(node);
    }
    let Some(first) = concerned.first() else {
        return Err(CannotTell::because(&host.cpus.nodes.path, format!("no node contains CPUs {cpus}")));
    };
    let names = |nodes: &[&Node]| {
        nodes
            .iter()
            .filter_map(|node| node.number())
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    };
    if let Some(node) = empty.first() {
        return Ok(RuleOutcome::fail(
            format!("Node {} of the real-time CPUs has no memory", names(&empty)),
            "Every access to memory that misses the caches goes to another node, over a link shared by all CPUs.",
        )
        .graded(Severity::Warning)
        .shows(&node.cpus)
        .shows(&node.memory)
        .fix(
            Fix::runtime("use CPUs of a node that has memory (numactl --hardware)").by_hand("it is about the hardware or its firmware")
                .boot("populate the memory channels of that socket")
                .risk("interrupts and other isolated CPUs must be moved too"),
        ));
    }
    if concerned.len() == 1 {
        return Ok(RuleOutcome::pass(format!("CPUs {cpus} are on node {}", names(&concerned)))
            .shows(&first.cpus)
            .shows(&first.memory));
    }
    let answer = RuleOutcome::fail(
        format!("The real-time CPUs are on nodes {}", names(&concerned)),
        "Threads that share memory across nodes wait for the link between the nodes, and memory is on the node where \
         it was first touched. `distance` shows the relative access cost of the other node (10: the local node).",
    );
    let answer =
        concerned.iter().take(4).fold(answer, |answer, node| answer.shows(&node.cpus).shows(&node.distances));
    Ok(answer.fix(
        Fix::runtime("keep each application on one node: numactl --cpunodebind=N --membind=N PROGRAM")
            .by_hand("how the program is started is to be changed: its unit or container")
            .boot("choose isolated CPUs of one node; AllowedMemoryNodes= in the unit")
            .risk("with membind, one node may run out of memory while another has some"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const TWO: &Files = &[
        ("/sys/devices/system/node/node0/cpulist", "0\n"),
        ("/sys/devices/system/node/node0/distance", "10 21\n"),
        ("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 4096 kB\n"),
        ("/sys/devices/system/node/node1/cpulist", "1\n"),
        ("/sys/devices/system/node/node1/distance", "21 10\n"),
        ("/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 4096 kB\n"),
    ];
    const EMPTY: (&str, &str) = ("/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 0 kB\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("one node", &[TWO_CPUS, TWO]).cpus("1").passes("node 1"),
                case("two nodes", &[TWO_CPUS, TWO]).cpus("0-1").fails("nodes 0, 1"),
                case("no memory", &[TWO_CPUS, TWO, &[EMPTY]])
                    .cpus("1")
                    .fails_as(Severity::Warning, "no memory"),
                case("no memory elsewhere", &[TWO_CPUS, TWO, &[EMPTY]]).cpus("0").passes("node 0"),
                case("no nodes", &[TWO_CPUS]).cpus("1").does_not_apply("no NUMA"),
                case("malformed", &[TWO_CPUS, TWO, &[(EMPTY.0, "x")]]).cpus("1").cannot_tell("MemTotal"),
                case("hidden", &[&[]]).cpus("1").cannot_tell("online"),
            ],
        );
    }
}
