//! Do the cpusets that are to isolate CPUs do it?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "cpuset-partition",
    title: "Every cpuset configured to isolate CPUs isolates them",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/admin-guide/cgroup-v2.rst",
        "Documentation/admin-guide/cgroup-v1/cpusets.rst",
        "https://git.kernel.org/torvalds/c/5a6a09e97199 (cgroup changes for v6.7: partitions below cgroups that are none)",
    ],
    page: page!("cpuset-partition"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let groups = host.cgroups.groups.need()?;
    let mut balanced = Vec::new();
    let mut meant = 0;
    let mut broken: Vec<(String, String)> = Vec::new();
    for group in groups {
        if let Some(true) = group.sched_load_balance.if_present()? {
            balanced.extend(group.cpus.need()?.iter());
        }
    }
    for group in groups {
        match group.partition.if_present()?.map(String::as_str) {
            Some(kind) if kind.contains("invalid") => {
                meant += 1;
                broken.push((group.partition.path.clone(), kind.to_owned()));
            }
            Some("isolated" | "root") => meant += 1,
            _ => {}
        }
        if let Some(false) = group.sched_load_balance.if_present()? {
            meant += 1;
            if group.cpus.need()?.iter().any(|cpu| balanced.contains(&cpu)) {
                let path = group.sched_load_balance.path.clone();
                broken.push((path, "0, but another cpuset with 1 has the same CPUs".to_owned()));
            }
        }
    }
    let Some((path, state)) = broken.first() else {
        if host.cgroups.truncated {
            return Err(CannotTell::because("/sys/fs/cgroup", "there are more groups than whylate reads"));
        }
        return Ok(match meant {
            0 => RuleOutcome::not_applicable("No cpuset is configured to isolate CPUs"),
            _ => RuleOutcome::pass("Every cpuset configured to isolate CPUs isolates them")
                .shows_as("/sys/fs/cgroup", format!("{meant} partitions")),
        });
    };
    let answer = RuleOutcome::fail(
        format!("A cpuset does not isolate its CPUs: {path} = {state}"),
        "The setting has no effect: the scheduler still balances other tasks onto these CPUs.",
    );
    let answer = broken.iter().take(8).fold(answer, |answer, (path, state)| answer.shows_as(path, state));
    Ok(answer.fix(
        Fix::runtime(
            "v2: make its parent a partition, or set cpuset.cpus.exclusive (6.7), and remove the CPUs from siblings; \
             v1: echo 0 > cpuset.sched_load_balance in the root and in each cpuset with these CPUs",
        ).by_hand("whose cpusets give way to the partition is to be decided")
        .boot("AllowedCPUs= of systemd's slices, or isolcpus=domain,LIST")
        .risk("v1: without balancing in the root, tasks outside any balanced cpuset stay where they are"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const V2: &Files = &[("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")];
    const PARTITION: &str = "/sys/fs/cgroup/rt.slice/cpuset.cpus.partition";
    const V1: &Files = &[
        ("/proc/self/mounts", "cgroup /cg cgroup rw,cpuset 0 0\n"),
        ("/cg/cpuset.cpus", "0-3\n"),
        ("/cg/rt/cpuset.cpus", "2-3\n"),
        ("/cg/rt/cpuset.sched_load_balance", "0\n"),
    ];
    const BALANCE: &str = "/cg/cpuset.sched_load_balance";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("valid", &[V2, &[(PARTITION, "isolated\n")]]).passes("isolates them"),
                case("invalid", &[V2, &[(PARTITION, "isolated invalid (Parent is not a partition root)\n")]])
                    .fails("Parent is not"),
                case("none", &[V2, &[(PARTITION, "member\n")]]).does_not_apply("No cpuset"),
                case("v1, the root balances", &[V1, &[(BALANCE, "1\n")]]).fails("another cpuset"),
                case("v1, the root does not", &[V1, &[(BALANCE, "0\n")]]).passes("isolates them"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
