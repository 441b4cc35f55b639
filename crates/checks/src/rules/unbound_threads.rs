//! May threads of other programs run on the real-time CPUs?

use super::shared::common;
use super::shared::cpus::{NO_CPUS_CHOSEN, housekeeping, real_time};
use super::shared::threads::{place, with_those_of_kernel};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{Snapshot, Thread};

pub(super) const RULE: Rule = Rule {
    code: "unbound-threads",
    title: "Other programs stay off the real-time CPUs",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &["systemd-system.conf(5)", "systemd.resource-control(5)", "sched_setaffinity(2)"],
    page: page!("unbound-threads"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let threads = host.threads.each.need()?;
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let rest = housekeeping(host, &cpus)?;
    if rest.is_empty() {
        return Ok(RuleOutcome::not_applicable(
            "Every CPU is real-time: there is no other CPU for other programs",
        ));
    }
    let init = threads.iter().find(|thread| thread.pid == 1).map(|thread| &thread.affinity);
    let mut wide: Vec<&Thread> = Vec::new();
    for thread in threads.iter().filter(|thread| !thread.is_realtime() && !thread.kernel) {
        let own = thread.affinity.need()?;
        // A thread that may run only on real-time CPUs was placed there on purpose.
        if !common(own, &cpus).is_empty() && !common(own, &rest).is_empty() {
            wide.push(thread);
        }
    }
    let Some(first) = wide.first() else {
        with_those_of_kernel(host)?;
        let pass = RuleOutcome::pass(format!("No other program may run on CPUs {cpus}"));
        return Ok(match init {
            Some(init) => pass.shows(init),
            None => pass.shows_as("/proc/PID/task/TID/status", format!("{} threads", threads.len())),
        });
    };
    let answer = RuleOutcome::fail(
        format!("{} threads of other programs may run on CPUs {cpus}, such as {}", wide.len(), first.comm),
        "They yield to real-time threads, except while they hold a lock or have preemption disabled in the kernel; \
         and they evict cache lines.",
    );
    let answer = init.into_iter().fold(answer, |answer, init| answer.shows(init));
    let answer = wide.iter().take(8).fold(answer, |answer, thread| {
        let own = thread.affinity.known().map_or(String::new(), |own| format!(", CPUs {own}"));
        answer.shows_as(place(thread), format!("{}{own}", thread.comm))
    });
    Ok(answer.fix(
        Fix::runtime(format!(
            "for s in init.scope system.slice user.slice machine.slice; do systemctl set-property --runtime \
             $s AllowedCPUs={rest}; done"
        )).by_hand("slices of systemd have no setting that a plan makes; a cpuset partition or isolcpus= of a profile does the same")
        .boot(format!("CPUAffinity={rest} in /etc/systemd/system.conf, or isolcpus=domain,{cpus}"))
        .risk("a program that needs these CPUs must then request them: CPUAffinity= in its unit, taskset"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const KTHREADD: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const APART: &Files = thread!(program 1 "systemd", other 0, "0");
    const WIDE: &Files = thread!(program 7 "cron", other 0, "0-1");
    const OWN: &Files = thread!(program 8 "rt-app", other 0, "1");
    const REALTIME: &Files = thread!(program 9 "rt-app", fifo 80, "0-1");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("apart", &[TWO_CPUS, KTHREADD, APART, OWN, REALTIME]).cpus("1").passes("CPUs 1"),
                case("one may", &[TWO_CPUS, APART, WIDE]).cpus("1").fails("cron"),
                case("for polling threads", &[TWO_CPUS, APART, WIDE])
                    .cpus("1")
                    .profile(Profile::CpuPartitioning)
                    .fails_as(Severity::Warning, "cron"),
                case("all CPUs", &[TWO_CPUS, WIDE]).cpus("0-1").does_not_apply("Every CPU"),
                case("others are hidden", &[TWO_CPUS, OWN]).cpus("1").cannot_tell("container"),
                case("no threads", &[TWO_CPUS]).cpus("1").cannot_tell("/proc"),
            ],
        );
    }
}
