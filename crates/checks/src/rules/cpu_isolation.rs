//! Are the real-time CPUs kept apart from load balancing?

use super::shared::cpus::{NO_CPUS_CHOSEN, isolated, real_time, without};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "cpu-isolation",
    title: "The real-time CPUs are isolated from other tasks",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/admin-guide/kernel-parameters.rst",
        "Documentation/admin-guide/cgroup-v2.rst",
        "Documentation/admin-guide/cgroup-v1/cpusets.rst",
    ],
    page: page!("cpu-isolation"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let boot = &host.cpus.isolated;
    let Some(cpus) = real_time(host, options)? else {
        let answer = RuleOutcome::not_applicable(NO_CPUS_CHOSEN).shows(boot);
        return Ok(answer);
    };
    if without(&cpus, boot.need()?).is_empty() {
        return Ok(RuleOutcome::pass(format!("CPUs {cpus} are isolated since boot")).shows(boot));
    }
    let open = without(&cpus, &isolated(host)?);
    let mut shown = Vec::new();
    for group in host.cgroups.groups.need()? {
        if group.partition.if_present()?.is_some_and(|kind| kind != "member") {
            shown.push(&group.partition);
        }
    }
    let with = |answer: RuleOutcome| {
        shown.iter().take(8).fold(answer.shows(boot), |answer, kind| answer.shows(*kind))
    };
    if open.is_empty() {
        return Ok(with(RuleOutcome::pass(format!("CPUs {cpus} are isolated by cpusets"))));
    }
    if host.cgroups.truncated {
        return Err(crate::CannotTell::because("/sys/fs/cgroup", "there are more groups than whylate reads"));
    }
    let answer = RuleOutcome::fail(
        format!("CPUs {open} are not isolated"),
        "The scheduler places other tasks there whenever the CPU is idle. A SCHED_OTHER task yields to a real-time \
         one, but not while it holds a spinlock or has preemption disabled, and it leaves cold caches, timers and \
         softirqs behind.",
    );
    Ok(with(answer)
        .fix(
            Fix::runtime(format!(
                "in a cgroup v2 below the root: cpuset.cpus={open}, then echo isolated > cpuset.cpus.partition (6.1)"
            )).action(Action::parameters(&format!("isolcpus=managed_irq,domain,{open}")))
            .boot(format!("isolcpus=managed_irq,domain,{open} on the kernel command line"))
            .risk("there is no load balancing on isolated CPUs: pin each thread to its own CPU"),
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const NONE: &Files = &[("/sys/devices/system/cpu/isolated", "\n")];
    const SECOND: &Files = &[("/sys/devices/system/cpu/isolated", "1\n")];
    const V2: &Files = &[
        ("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
        ("/sys/fs/cgroup/cgroup.procs", ""),
    ];
    const PARTITION: &Files = &[
        ("/sys/fs/cgroup/rt/cpuset.cpus.partition", "isolated\n"),
        ("/sys/fs/cgroup/rt/cpuset.cpus.effective", "1\n"),
    ];
    const INVALID: &Files = &[(
        "/sys/fs/cgroup/rt/cpuset.cpus.partition",
        "isolated invalid (Cpu list in cpuset.cpus not exclusive)\n",
    )];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("isolcpus", &[TWO_CPUS, SECOND]).passes("CPUs 1 are isolated since boot"),
                case("isolcpus, another chosen", &[TWO_CPUS, SECOND, V2])
                    .cpus("0")
                    .fails_as(Severity::Info, "CPUs 0"),
                case("for a polling thread", &[TWO_CPUS, NONE, V2])
                    .cpus("1")
                    .profile(Profile::CpuPartitioning)
                    .fails("CPUs 1 are not"),
                case("a partition", &[TWO_CPUS, NONE, V2, PARTITION]).cpus("1").passes("by cpusets"),
                case("a partition alone", &[TWO_CPUS, NONE, V2, PARTITION]).passes("CPUs 1"),
                case("an invalid one", &[TWO_CPUS, NONE, V2, PARTITION, INVALID])
                    .cpus("1")
                    .fails_as(Severity::Info, "not"),
                case("no CPUs given", &[TWO_CPUS, NONE, V2]).does_not_apply("--cpus"),
                case("no groups to see", &[TWO_CPUS, NONE]).cpus("1").cannot_tell("mounts"),
                case("no such CPU", &[TWO_CPUS, NONE, V2]).cpus("7").cannot_tell("CPU 7"),
            ],
        );
    }
}
