//! Do threads of interrupts run in front of the user's?

use super::shared::threads::{
    cpus_of, described, is_at_or_above, may_run_on, place, priority, with_those_of_kernel,
};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, CpuSet, IrqAction, Severity, ThreadAction};
use whylate_host::{Snapshot, Thread};

pub(super) const RULE: Rule = Rule {
    code: "irq-threads",
    title: "No interrupt thread has the user's priority or a higher one",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["Documentation/core-api/real-time/theory.rst", "kernel/irq/manage.c", "chrt(1)"],
    page: page!("irq-threads"),
    check,
};

/// The number of threads to list.
const NAMED: usize = 12;

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let (priority, bound) = priority(options);
    let threads = with_those_of_kernel(host)?.iter();
    let irqs: Vec<&Thread> =
        threads.filter(|thread| thread.kernel && thread.comm.starts_with("irq/")).collect();
    if irqs.is_empty() {
        return Ok(RuleOutcome::not_applicable(match host.kernel.is_realtime() {
            Ok(false) => "There are no interrupt threads: handlers run at once, above every priority",
            _ => "There are no interrupt threads",
        }));
    }
    let above: Vec<&&Thread> =
        irqs.iter().filter(|thread| is_at_or_above(thread, priority) && may_run_on(thread, &cpus)).collect();
    let highest = irqs.iter().map(|thread| thread.priority).max().unwrap_or(0);
    let Some(first) = above.first() else {
        return Ok(RuleOutcome::pass(format!("No interrupt thread runs at or above {bound} on CPUs {cpus}"))
            .shows_as("/proc/PID/stat", format!("{} interrupt threads, at most {highest}", irqs.len())));
    };
    let answer = RuleOutcome::fail(
        match above.len() {
            1 => format!("{} runs at or above {bound}: {}", described(first), cpus_of(first)),
            more => {
                format!("{more} interrupt threads run at or above {bound}, such as {}", described(first))
            }
        },
        "The work of that device runs before the user's thread. This is correct only for the device that the user's \
         thread waits for.",
    );
    let named = above.iter().take(NAMED).fold(answer, |answer, thread| {
        answer.shows_as(place(thread), format!("{}, {}", described(thread), cpus_of(thread)))
    });
    Ok(named
        .fix(
            Fix::runtime(format!("chrt -f -p {} {}", priority.saturating_sub(1).max(1), first.tid)).action(Action::Thread { set: above.iter().map(|thread| ThreadAction { thread: thread.comm.clone(), tid: Some(thread.tid.0), priority: Some(priority.saturating_sub(1).max(1)), ..ThreadAction::default() }).collect() })
                .boot("the same command from a systemd unit or udev rule: a driver that restarts its thread sets 50 \
                       again")
                .risk("the thread of a device that the user's thread needs must stay above it"),
        )
        .fix(
            Fix::runtime("echo OTHER-CPUS > /proc/irq/N/smp_affinity_list").action(Action::Irq { set: above.iter().filter_map(|thread| of_thread(&thread.comm, &cpus)).collect() })
                .boot("irqaffinity=OTHER-CPUS on the kernel command line")
                .risk("managed interrupts refuse the change"),
        ))
}

/// The interrupt of a thread, `irq/27-eth0`, away from these CPUs.
fn of_thread(comm: &str, cpus: &CpuSet) -> Option<IrqAction> {
    let (irq, name) = comm.strip_prefix("irq/")?.split_once('-')?;
    let name = name.strip_prefix("s-").unwrap_or(name).to_owned();
    Some(IrqAction { irq: irq.parse().ok(), name, cpus: None, not_cpus: Some(cpus.to_string()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ETHERNET: &Files = thread!(kernel 17 "irq/24-eth0", fifo 50, "1");
    const SOUND: &Files = thread!(kernel 18 "irq/25-snd", fifo 85, "0-1");
    const OTHER: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("below", &[TWO_CPUS, ETHERNET]).priority(80).passes("priority 80"),
                case("the same", &[TWO_CPUS, ETHERNET]).priority(50).fails("irq/24-eth0 (fifo 50)"),
                case("elsewhere", &[TWO_CPUS, ETHERNET]).priority(50).cpus("0").passes("CPUs 0"),
                case("two", &[TWO_CPUS, ETHERNET, SOUND]).priority(40).fails("2 interrupt threads"),
                case("not threaded", &[KERNEL_6_1, TWO_CPUS, OTHER]).does_not_apply("above every"),
                case("none there", &[KERNEL_6_1_RT, TWO_CPUS, OTHER]).does_not_apply("no interrupt threads"),
                case("a container hides them", &[TWO_CPUS, thread!(program 1 "init", other 0, "0-1")])
                    .cannot_tell("container"),
            ],
        );
    }
}
