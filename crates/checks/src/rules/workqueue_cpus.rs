//! Do unbound workers of the kernel run on the real-time CPUs?

use super::shared::common;
use super::shared::cpus::{NO_CPUS_CHOSEN, housekeeping, real_time};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "workqueue-cpus",
    title: "Unbound workqueues stay off the real-time CPUs",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/core-api/workqueue.rst",
        "Documentation/admin-guide/kernel-parameters.rst",
        "https://git.kernel.org/torvalds/c/bd30fe6a7d9b (workqueue changes for v6.6: workqueue.unbound_cpus)",
    ],
    page: page!("workqueue-cpus"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let mask = &host.sched.workqueue_cpus;
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let shared = common(&mask.need()?.0, &cpus);
    if shared.is_empty() {
        return Ok(RuleOutcome::pass(format!("Unbound workqueues stay off CPUs {cpus}")).shows(mask));
    }
    let others = housekeeping(host, &cpus)?;
    if others.is_empty() {
        return Ok(RuleOutcome::not_applicable("Every CPU is real-time: there is no other CPU for workers"));
    }
    let answer = RuleOutcome::fail(
        format!("Unbound workqueues may run on CPUs {shared}"),
        "File writeback, deferred work of drivers and firmware calls run on these CPUs. The workers are SCHED_OTHER, \
         but their locks and disabled preemption also delay real-time threads.",
    );
    let hex = mask_of(&others);
    Ok(answer.shows(mask).fix(
        Fix::runtime(format!("echo {hex} > {}", mask.path))
            .boot(format!("workqueue.unbound_cpus={others} on the kernel command line (6.6), or isolcpus="))
            .risk("with few CPUs left, work for devices may take longer"),
    ))
}

/// As the kernel reads masks: hexadecimal words of 32 bits, the highest first.
fn mask_of(cpus: &whylate_base::CpuSet) -> String {
    let words = cpus.iter().last().map_or(0, |last| last.index() / 32) + 1;
    let mut bits = vec![0u32; words];
    for cpu in cpus.iter() {
        bits[cpu.index() / 32] |= 1 << (cpu.index() % 32);
    }
    let mut text = Vec::new();
    for (at, word) in bits.iter().rev().enumerate() {
        text.push(if at == 0 { format!("{word:x}") } else { format!("{word:08x}") });
    }
    text.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const PATH: &str = "/sys/devices/virtual/workqueue/cpumask";

    #[test]
    fn masks() {
        for (list, mask) in [("0", "1"), ("0-3,32", "1,0000000f"), ("31", "80000000")] {
            assert_eq!(mask_of(&list.parse().expect("a list")), mask, "{list}");
        }
    }

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("apart", &[TWO_CPUS, &[(PATH, "1\n")]]).cpus("1").passes("CPUs 1"),
                case("everywhere", &[TWO_CPUS, &[(PATH, "3\n")]])
                    .cpus("1")
                    .fails_as(Severity::Info, "CPUs 1"),
                case("for polling threads", &[TWO_CPUS, &[(PATH, "3\n")]])
                    .cpus("1")
                    .profile(Profile::CpuPartitioning)
                    .fails("CPUs 1"),
                case("all", &[TWO_CPUS, &[(PATH, "3\n")]]).cpus("0-1").does_not_apply("Every CPU"),
                case("hidden", &[TWO_CPUS]).cpus("1").cannot_tell("cpumask"),
            ],
        );
    }
}
