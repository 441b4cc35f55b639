//! Which of the kernel's own threads run in front of the user's?

use super::shared::threads::{
    cpus_of, described, is_at_or_above, may_run_on, place, priority, with_those_of_kernel,
};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity, ThreadAction};
use whylate_host::{Snapshot, Thread};

pub(super) const RULE: Rule = Rule {
    code: "kernel-threads",
    title: "No kernel thread has the user's priority or a higher one",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["sched(7)", "Documentation/admin-guide/kernel-per-CPU-kthreads.rst", "kernel/stop_machine.c"],
    page: page!("kernel-threads"),
    check,
};

/// The number of threads to list.
const NAMED: usize = 12;

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let (priority, bound) = priority(options);
    // These threads must be above a thread that polls without end: `softirq-threads` checks this.
    let polling = matches!(
        options.profile,
        Profile::CpuPartitioning | Profile::RealtimeVirtualHost | Profile::RealtimeVirtualGuest
    );
    // The stopper of each CPU is above every policy by design; another rule checks interrupt threads.
    let has_own_rule = |thread: &Thread| {
        let begins = |names: &[&str]| names.iter().any(|name| thread.comm.starts_with(name));
        begins(&["migration/", "irq/"]) || polling && begins(&["ktimers/", "ksoftirqd/", "rcu"])
    };
    let threads = with_those_of_kernel(host)?;
    let above: Vec<&Thread> = threads
        .iter()
        .filter(|thread| thread.kernel && !has_own_rule(thread))
        .filter(|thread| is_at_or_above(thread, priority) && may_run_on(thread, &cpus))
        .collect();
    let Some(first) = above.first() else {
        let number = threads.iter().filter(|thread| thread.kernel).count();
        return Ok(RuleOutcome::pass(format!("No kernel thread runs at or above {bound} on CPUs {cpus}"))
            .shows_as("/proc/PID/stat", format!("{number} kernel threads")));
    };
    let answer = RuleOutcome::fail(
        match above.len() {
            1 => format!("{} runs at or above {bound}: {}", described(first), cpus_of(first)),
            more => {
                format!("{more} kernel threads run at or above {bound}, such as {}", described(first))
            }
        },
        "While such a thread runs, the user's thread waits. Most of them do little at a time, but nothing limits it.",
    );
    let named = above.iter().take(NAMED).fold(answer, |answer, thread| {
        answer.shows_as(place(thread), format!("{}, {}", described(thread), cpus_of(thread)))
    });
    Ok(named.fix(
        Fix::runtime(format!("chrt -f -p PRIORITY {}, below the user's", first.tid)).action(Action::Thread { set: above.iter().map(|thread| ThreadAction { thread: thread.comm.clone(), tid: Some(thread.tid.0), priority: Some(priority.saturating_sub(1).max(1)), ..ThreadAction::default() }).collect() })
            .boot("for RCU threads rcutree.kthread_prio=; for others the same command from a systemd unit at boot")
            .risk("everything that waits for that thread waits as long as the user's thread runs: always leave it \
                   some CPU time"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const STOPPER: &Files = thread!(kernel 15 "migration/0", fifo 99, "0");
    const RCU: &Files = thread!(kernel 16 "rcuc/0", fifo 4, "0");
    const IRQ: &Files = thread!(kernel 17 "irq/24-eth0", fifo 50, "0-1");
    const PROGRAM: &Files = thread!(program 99 "app", fifo 90, "0-1");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("below", &[TWO_CPUS, STOPPER, RCU, IRQ]).priority(5).passes("priority 5"),
                case("the same", &[TWO_CPUS, STOPPER, RCU, IRQ]).priority(4).fails("rcuc/0 (fifo 4)"),
                case("where threads poll", &[TWO_CPUS, STOPPER, RCU])
                    .priority(1)
                    .profile(Profile::RealtimeVirtualHost)
                    .passes("priority 1"),
                case("elsewhere", &[TWO_CPUS, STOPPER, RCU]).priority(4).cpus("1").passes("CPUs 1"),
                case("a program is no thread of the kernel", &[TWO_CPUS, RCU, PROGRAM]).passes("assumed"),
                case("a container hides them", &[TWO_CPUS, PROGRAM]).cannot_tell("container"),
                case("no CPUs", &[RCU]).cannot_tell("online"),
            ],
        );
    }
}
