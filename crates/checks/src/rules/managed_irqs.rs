//! Do queues of disks interrupt real-time CPUs?

use super::shared::common;
use super::shared::cpus::{NO_CPUS_CHOSEN, real_time, without};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{Irq, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "managed-irqs",
    title: "Managed interrupts stay off the real-time CPUs",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/core-api/irq/managed_irq.rst",
        "Documentation/admin-guide/kernel-parameters.rst (isolcpus)",
        "kernel/irq/cpuhotplug.c",
    ],
    page: page!("managed-irqs"),
    check,
};

/// The number of items to list.
const NAMED: usize = 8;

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let queues: Vec<&Irq> = host
        .irqs
        .each
        .need()?
        .iter()
        .filter(|irq| irq.actions.iter().any(|action| is_queue(action)))
        .collect();
    if queues.is_empty() {
        return Ok(RuleOutcome::not_applicable("There is no NVMe disk with managed interrupts"));
    }
    let cmdline = host.kernel.cmdline.need()?;
    let mut here = Vec::new();
    let mut served = Vec::new();
    for irq in &queues {
        let allowed = irq.affinity.need()?;
        let effective = match irq.effective.if_present()? {
            Some(effective) if !effective.is_empty() => effective,
            _ => allowed,
        };
        if common(effective, &cpus).is_empty() {
            continue;
        }
        // A queue whose CPUs are all real-time interrupts only for their own I/O.
        if without(allowed, &cpus).is_empty() { served.push(*irq) } else { here.push(*irq) }
    }
    let shown = |answer: RuleOutcome, irqs: &[&Irq]| {
        irqs.iter().take(NAMED).fold(answer, |answer, irq| answer.shows(&irq.affinity))
    };
    if here.is_empty() {
        let what = match served.len() {
            0 => format!("None of {} disk queues interrupts CPUs {cpus}", queues.len()),
            _ => format!("{} disk queues interrupt CPUs {cpus}, only for their own I/O", served.len()),
        };
        let shows = if served.is_empty() { &queues } else { &served };
        return Ok(shown(RuleOutcome::pass(what), shows));
    }
    let answer = RuleOutcome::fail(
        format!("{} of {} disk queues interrupt CPUs {cpus} for I/O of other CPUs", here.len(), queues.len()),
        "The kernel spreads the queues over all CPUs; writing to smp_affinity fails for these interrupts, and \
         irqbalance does not move them either.",
    )
    .shows_as(&host.kernel.cmdline.path, cmdline.show("isolcpus"));
    Ok(shown(answer, &here).fix(
        Fix::reboot(format!("isolcpus=managed_irq,domain,{cpus} on the kernel command line (5.6)"))
            .risk("a queue whose CPUs are all isolated still interrupts them for their own I/O"),
    ))
}

/// `nvme0q3`; the first, for administration, is an ordinary interrupt.
fn is_queue(action: &str) -> bool {
    let Some((disk, queue)) = action.strip_prefix("nvme").and_then(|rest| rest.split_once('q')) else {
        return false;
    };
    disk.parse::<u32>().is_ok() && queue.parse::<u32>().is_ok_and(|queue| queue > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const QUEUES: &Files = &[
        ("/proc/irq/30/nvme0q0/x", ""),
        ("/proc/irq/30/smp_affinity_list", "0-1\n"),
        ("/proc/irq/31/nvme0q1/x", ""),
        ("/proc/irq/31/smp_affinity_list", "0-1\n"),
        ("/proc/irq/31/effective_affinity_list", "1\n"),
        ("/proc/cmdline", "quiet\n"),
    ];
    const MOVED: (&str, &str) = ("/proc/irq/31/effective_affinity_list", "0\n");
    const ALONE: (&str, &str) = ("/proc/irq/31/smp_affinity_list", "1\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("here", &[TWO_CPUS, QUEUES]).cpus("1").fails("1 of 1 disk queues"),
                case("elsewhere", &[TWO_CPUS, QUEUES, &[MOVED]]).cpus("1").passes("None of 1"),
                case("for its own I/O", &[TWO_CPUS, QUEUES, &[ALONE]])
                    .cpus("1")
                    .passes("only for their own I/O"),
                case("no disk", &[TWO_CPUS, &QUEUES[..2]]).cpus("1").does_not_apply("no NVMe"),
                case("malformed", &[TWO_CPUS, QUEUES, &[(ALONE.0, "x")]]).cpus("1").cannot_tell("CPU list"),
                case("hidden", &[&[]]).cpus("1").cannot_tell("online"),
            ],
        );
    }
}
