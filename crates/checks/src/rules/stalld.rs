//! Does stalld stay off the real-time CPUs, and is it the only safeguard?

use super::shared::cpus::{NO_CPUS_CHOSEN, housekeeping, real_time};
use super::shared::has_servers;
use super::shared::threads::{cpus_of, described, may_run_on, place, with_those_of_kernel};
use crate::rule::page;
use crate::survey::survey;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity, ThreadAction, UnitAction};
use whylate_host::{Snapshot, Thread};

pub(super) const RULE: Rule = Rule {
    code: "stalld",
    title: "stalld runs on other CPUs and does not duplicate the fair server",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &["stalld(8)", "kernel/sched/deadline.c"],
    page: page!("stalld"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let threads = with_those_of_kernel(host)?;
    let all: Vec<&Thread> =
        threads.iter().filter(|thread| thread.comm.starts_with("stalld") && !thread.kernel).collect();
    let Some(first) = all.first() else {
        return Ok(RuleOutcome::not_applicable("stalld does not run"));
    };
    if has_servers(host)? && any_server(host)? {
        return Ok(RuleOutcome::fail(
            "Both stalld and the fair server are active",
            "Each interrupts real-time threads to run starving ones. From 6.12 the fair server acts first: within a \
             second, stalld after 60 s by default.",
        )
        .shows_as(place(first), described(first))
        .shows_as(&host.sched.fair_servers.path, "on")
        .fix(
            Fix::runtime("systemctl stop stalld, or echo 0 to the runtimes of the fair server: see `fair-server`").action(Action::Unit { set: vec![UnitAction { unit: Some("stalld.service".to_owned()), runs: Some(false), ..UnitAction::default() }] })
                .boot("systemctl disable stalld")
                .risk("with both off, no safeguard catches a real-time thread that loops"),
        ));
    }
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let rest = housekeeping(host, &cpus)?;
    let here: Vec<&&Thread> = all.iter().filter(|thread| may_run_on(thread, &cpus)).collect();
    if here.is_empty() || rest.is_empty() {
        return Ok(RuleOutcome::pass("stalld runs on other CPUs").shows_as(place(first), cpus_of(first)));
    }
    let answer = RuleOutcome::fail(
        format!("stalld may run on CPUs {cpus}"),
        "It scans every runqueue periodically, usually at a real-time priority of its own.",
    );
    let answer = here.iter().fold(answer, |answer, thread| {
        answer.shows_as(place(thread), format!("{}, {}", described(thread), cpus_of(thread)))
    });
    Ok(answer.fix(
        Fix::runtime(format!("taskset -apc {rest} {}", first.pid))
            .action(Action::thread(ThreadAction {
                thread: first.comm.clone(),
                tid: Some(first.tid.0),
                cpus: Some(rest.to_string()),
                ..ThreadAction::default()
            }))
            .boot(format!("stalld -a {rest}, in its service"))
            .risk("it starves if these CPUs are busy at a higher priority"),
    ))
}

/// Whether the fair server is on somewhere.
fn any_server(host: &Snapshot) -> Result<bool, CannotTell> {
    let servers = host.sched.fair_servers.need()?.iter();
    Ok(!survey("the fair servers", servers.map(|server| &server.runtime_ns), |&ns| ns == 0)?.wrong.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const INIT: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const WIDE: &Files = thread!(program 9 "stalld", fifo 10, "0-1");
    const APART: &Files = thread!(program 9 "stalld", fifo 10, "0");
    const SERVER: &Files = &[("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n")];
    const OFF: &Files = &[("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "0\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("none", &[KERNEL_6_1, TWO_CPUS, INIT]).does_not_apply("does not run"),
                case("here", &[KERNEL_6_1, TWO_CPUS, INIT, WIDE]).cpus("1").fails("CPUs 1"),
                case("elsewhere", &[KERNEL_6_1, TWO_CPUS, INIT, APART]).cpus("1").passes("on other CPUs"),
                case("two nets", &[KERNEL_6_12, TWO_CPUS, INIT, APART, SERVER]).fails("Both"),
                case("the server is off", &[KERNEL_6_12, TWO_CPUS, INIT, APART, OFF])
                    .cpus("1")
                    .passes("on other CPUs"),
                case("debugfs is not mounted", &[KERNEL_6_12, TWO_CPUS, INIT, APART]).cannot_tell("debugfs"),
                case("a container", &[KERNEL_6_1, TWO_CPUS, thread!(program 5 "app", other 0, "0")])
                    .cannot_tell("container"),
            ],
        );
    }
}
