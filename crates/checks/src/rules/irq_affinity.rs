//! Can devices interrupt the real-time CPUs?

use super::shared::common;
use crate::rule::page;
use crate::survey::survey;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, CpuSet, Severity};
use whylate_host::{Irq, Reading, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "irq-affinity",
    title: "No device interrupts the real-time CPUs",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &["Documentation/core-api/irq/irq-affinity.rst", "kernel/irq/proc.c"],
    page: page!("irq-affinity"),
    check,
};

/// The number of interrupts to list.
const NAMED: usize = 12;

/// Per-CPU interrupts that cannot be moved: the timers of arm64 and riscv.
const OF_EACH_CPU: [&str; 4] = ["arch_timer", "kvm guest vtimer", "kvm guest ptimer", "riscv-timer"];

fn is_of_each_cpu(irq: &Irq) -> bool {
    irq.actions.iter().all(|action| OF_EACH_CPU.contains(&action.as_str()))
}

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = match &options.cpus {
        Some(cpus) => cpus.clone(),
        // By default the isolated CPUs are the real-time ones.
        None => host.cpus.isolated.need()?.clone(),
    };
    if cpus.is_empty() {
        return Ok(RuleOutcome::not_applicable("No CPU is isolated: select the real-time CPUs with --cpus"));
    }
    let online = host.cpus.online.need()?;
    if online.iter().all(|cpu| cpus.contains(cpu)) {
        return Ok(RuleOutcome::not_applicable(
            "Every CPU is real-time: there is no other CPU for interrupts",
        ));
    }
    // An interrupt without a driver cannot occur.
    let used: Vec<&Irq> =
        host.irqs.each.need()?.iter().filter(|irq| !irq.actions.is_empty() && !is_of_each_cpu(irq)).collect();
    let mut targets: Vec<(&Irq, &Reading<CpuSet>)> = Vec::new();
    for irq in &used {
        let target = match irq.effective.if_present()? {
            Some(effective) if !effective.is_empty() => &irq.effective,
            _ => &irq.affinity,
        };
        targets.push((irq, target));
    }
    let apart = |own: &CpuSet| common(own, &cpus).is_empty();
    let survey = survey("/proc/irq", targets.iter().map(|(_, target)| *target), apart)?;
    let default = host.irqs.default_affinity.need()?;
    let default_here = common(&default.0, &cpus);
    if survey.wrong.is_empty() && default_here.is_empty() {
        return Ok(RuleOutcome::pass(format!("None of {} interrupts is routed to CPUs {cpus}", used.len()))
            .shows(&host.irqs.default_affinity));
    }
    let housekeeping: CpuSet = online.iter().filter(|&cpu| !cpus.contains(cpu)).collect();
    let fix = Fix::runtime(format!(
        "for i in /proc/irq/[0-9]*; do echo {housekeeping} > $i/smp_affinity_list; done"
    ))
    .action(Action::parameters(&format!("irqaffinity={housekeeping}")))
    .boot(format!(
        "irqaffinity={housekeeping} on the kernel command line, and IRQBALANCE_BANNED_CPULIST={cpus}"
    ))
    .risk(
        "managed interrupts (NVMe, some network cards) refuse the change: boot with isolcpus=managed_irq,... \
               for those",
    );
    if survey.wrong.is_empty() {
        return Ok(RuleOutcome::fail(
            format!(
                "No interrupt is routed to CPUs {cpus} now, but new ones may be: the default mask allows \
                     {default_here}"
            ),
            "A device that is plugged in later, or a driver that is loaded later, interrupts them.",
        )
        .graded(Severity::Info)
        .shows(&host.irqs.default_affinity)
        .fix(fix));
    }
    let mut answer = RuleOutcome::fail(
        format!("{} of {} interrupts may run on CPUs {cpus}", survey.wrong.len(), used.len()),
        "Each interrupt takes time from the running thread, and its softirqs take more; on PREEMPT_RT its thread \
         also competes, at priority 50.",
    );
    let wrong =
        targets.iter().filter(|(_, target)| survey.wrong.iter().any(|wrong| wrong.path == target.path));
    for (irq, target) in wrong.take(NAMED) {
        let count = host.irqs.count(irq.number).map_or(String::new(), |count| format!(", {count} times"));
        answer =
            answer.shows_as(&target.path, format!("{}: {}{count}", target.need()?, irq.actions.join(" ")));
    }
    Ok(answer.shows(&host.irqs.default_affinity).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const DISK: &Files = &[
        ("/proc/irq/24/disk0/x", ""),
        ("/proc/irq/24/smp_affinity_list", "0-1\n"),
        ("/proc/irq/24/effective_affinity_list", "0\n"),
        ("/proc/irq/25/smp_affinity_list", "0-1\n"),
        ("/proc/irq/default_smp_affinity", "1\n"),
    ];
    const ARM: &Files = &[("/proc/irq/11/arch_timer/x", ""), ("/proc/irq/11/smp_affinity_list", "0-1\n")];
    const ALL: (&str, &str) = ("/proc/irq/default_smp_affinity", "3\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("apart", &[TWO_CPUS, DISK]).cpus("1").passes("None of 1"),
                case("here", &[TWO_CPUS, DISK]).cpus("0").fails("1 of 1 interrupts"),
                case("a timer of each CPU", &[TWO_CPUS, DISK, ARM]).cpus("1").passes("None of 1"),
                case("later ones", &[TWO_CPUS, DISK, &[ALL]]).cpus("1").fails_as(Severity::Info, "new ones"),
                case(
                    "before 4.15",
                    &[TWO_CPUS, &[("/proc/irq/7/x/y", ""), ("/proc/irq/7/smp_affinity_list", "1\n"), ALL]],
                )
                .cpus("1")
                .fails("1 of 1"),
                case(
                    "isolated ones are meant",
                    &[TWO_CPUS, DISK, &[("/sys/devices/system/cpu/isolated", "1\n")]],
                )
                .passes("CPUs 1"),
                case("none isolated", &[TWO_CPUS, DISK, &[("/sys/devices/system/cpu/isolated", "\n")]])
                    .does_not_apply("--cpus"),
                case("all", &[TWO_CPUS, DISK]).cpus("0-1").does_not_apply("Every CPU"),
                case("hidden", &[TWO_CPUS]).cpus("1").cannot_tell("/proc"),
                case("malformed", &[TWO_CPUS, DISK, &[("/proc/irq/24/effective_affinity_list", "x")]])
                    .cpus("1")
                    .cannot_tell("CPU list"),
            ],
        );
    }
}
