//! Would a real-time thread that never sleeps starve the kernel's timers, softirqs and RCU?

use super::shared::threads::{described, may_run_on, place, realtime_priority, with_those_of_kernel};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity, ThreadAction};
use whylate_host::{Snapshot, Thread};

pub(super) const RULE: Rule = Rule {
    code: "softirq-threads",
    title: "The kernel's timer, softirq and RCU threads are not below the user's priority",
    severity: Severity::Info,
    profiles: Profile::HARD,
    sources: &[
        "kernel/softirq.c",
        "kernel/time/hrtimer.c",
        "Documentation/admin-guide/kernel-parameters.rst",
        "tuned-profiles(7)",
    ],
    page: page!("softirq-threads"),
    check,
};

/// Each of these threads exists on every CPU.
const THREADS: [&str; 3] = ["ktimers/", "ksoftirqd/", "rcuc/"];

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    if !host.kernel.is_realtime()? {
        return Ok(RuleOutcome::not_applicable("Without PREEMPT_RT softirqs run on interrupt exit"));
    }
    let helpers = with_those_of_kernel(host)?.iter().filter(|thread| {
        thread.kernel && may_run_on(thread, &cpus) && THREADS.iter().any(|name| thread.comm.starts_with(name))
    });
    let mut helpers: Vec<&Thread> = helpers.collect();
    helpers.sort_by_key(|thread| realtime_priority(thread));
    let Some(lowest) = helpers.first() else {
        return Ok(RuleOutcome::not_applicable(format!("There are no softirq threads on CPUs {cpus}")));
    };
    let Some(priority) = options.priority else {
        return Ok(RuleOutcome::not_applicable(format!(
            "The lowest priority is {}: whether a real-time thread can starve it depends on --priority",
            described(lowest)
        )));
    };
    let below: Vec<&&Thread> =
        helpers.iter().filter(|thread| realtime_priority(thread) <= priority).collect();
    if below.is_empty() {
        let pass = RuleOutcome::pass(format!(
            "Timers, softirqs and RCU run above priority {priority} on CPUs {cpus}"
        ));
        return Ok(pass.shows_as(place(lowest), described(lowest)));
    }
    let answer = RuleOutcome::fail(
        format!(
            "{} kernel threads run at or below priority {priority}, such as {}",
            below.len(),
            described(lowest)
        ),
        "On PREEMPT_RT timerfd, POSIX and interval timers expire in ktimers/N, network packets arrive in \
         ksoftirqd/N, and rcuc/N frees memory: while real-time threads of this priority use the CPU, none of this \
         runs. It only matters for a thread that polls without end.",
    );
    let named = below
        .iter()
        .take(12)
        .fold(answer, |answer, thread| answer.shows_as(place(thread), described(thread)));
    Ok(named.fix(
        Fix::runtime(format!(
            "chrt -f -p {} TID, for ksoftirqd, ktimers and rcuc of these CPUs",
            (priority + 1).min(99)
        )).action(Action::Thread { set: below.iter().map(|thread| ThreadAction { thread: thread.comm.clone(), tid: Some(thread.tid.0), policy: Some("fifo".to_owned()), priority: Some((priority + 1).min(99)), ..ThreadAction::default() }).collect() })
        .boot("rcutree.kthread_prio= on the kernel command line; TuneD's realtime profiles set the others")
        .risk(
            "they then delay the user's thread: wait with clock_nanosleep(2) and keep network traffic on other CPUs",
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const TIMERS: &Files = thread!(kernel 17 "ktimers/1", fifo 1, "1");
    const SOFTIRQS: &Files = thread!(kernel 18 "ksoftirqd/1", other 0, "1");
    const RAISED: &Files = thread!(kernel 18 "ksoftirqd/1", fifo 2, "1");

    #[test]
    fn cases() {
        let rt = KERNEL_6_1_RT;
        table(
            &RULE,
            &[
                case("as built", &[rt, TWO_CPUS, TIMERS, SOFTIRQS]).priority(1).fails("2 kernel threads"),
                case("as for polling guests", &[rt, TWO_CPUS, TIMERS, RAISED])
                    .priority(1)
                    .profile(Profile::RealtimeVirtualHost)
                    .fails_as(Severity::Warning, "ktimers/1 (fifo 1)"),
                case("raised", &[rt, TWO_CPUS, RAISED]).priority(1).passes("above priority 1"),
                case("no priority said", &[rt, TWO_CPUS, TIMERS]).does_not_apply("--priority"),
                case("elsewhere", &[rt, TWO_CPUS, TIMERS]).priority(80).cpus("0").does_not_apply("CPUs 0"),
                case("not PREEMPT_RT", &[KERNEL_6_1, TWO_CPUS, TIMERS])
                    .priority(80)
                    .does_not_apply("PREEMPT_RT"),
                case("hidden", &[rt, TWO_CPUS, thread!(program 1 "init", other 0, "0")])
                    .priority(1)
                    .cannot_tell("container"),
            ],
        );
    }
}
