//! Do real-time threads of one priority take turns, and for how long?

use super::shared::common;
use super::shared::threads::{described, may_run_on, place, with_those_of_kernel};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Policy, Severity};
use whylate_host::{Snapshot, Thread};

pub(super) const RULE: Rule = Rule {
    code: "rr-timeslice",
    title: "No two SCHED_RR threads of one priority share a CPU",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &["sched(7)", "sched_rr_get_interval(2)"],
    page: page!("rr-timeslice"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let all = with_those_of_kernel(host)?;
    let slice = &host.sched.rr_timeslice_ms;
    let here =
        |thread: &&Thread| thread.policy == Some(Policy::Rr) && !thread.kernel && may_run_on(thread, &cpus);
    let threads: Vec<&Thread> = all.iter().filter(here).collect();
    let rivals = |a: &Thread, b: &Thread| {
        let apart = match (a.affinity.known(), b.affinity.known()) {
            (Some(a), Some(b)) => common(&common(a, b), &cpus).is_empty(),
            _ => false,
        };
        a.priority == b.priority && !apart
    };
    let pair = threads.iter().enumerate().find_map(|(at, a)| {
        let b = threads.iter().skip(at + 1).find(|b| rivals(a, b))?;
        Some((*a, *b))
    });
    let Some((a, b)) = pair else {
        return Ok(RuleOutcome::pass("No two SCHED_RR threads of one priority share a CPU")
            .shows_as("/proc/PID/task/TID/stat", format!("{} SCHED_RR threads", threads.len())));
    };
    let turn = slice.need()?;
    Ok(RuleOutcome::fail(
        format!("{} and {} may alternate in time slices of {turn} ms", described(a), described(b)),
        format!(
            "SCHED_RR runs a thread for {turn} ms before the next thread of the same priority: if both are busy, \
             each may be late by that much. They may use the same CPU, but need not."
        ),
    )
    .shows(slice)
    .shows_as(place(a), described(a))
    .shows_as(place(b), described(b))
    .fix(Fix::runtime("give them priorities in the order of their deadlines, or separate CPUs").by_hand("the order of the deadlines is known to the programs alone").risk("none known"))
    .fix(
        Fix::runtime("sysctl -w kernel.sched_rr_timeslice_ms=10")
            .boot("kernel.sched_rr_timeslice_ms = 10 in /etc/sysctl.d/")
            .risk("more context switches between busy threads"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const INIT: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const FIRST: &Files = thread!(program 7 "a", rr 40, "0-1");
    const SECOND: &Files = thread!(program 8 "b", rr 40, "0-1");
    const APART: &Files = thread!(program 7 "a", rr 40, "0");
    const OTHER_CPU: &Files = thread!(program 8 "b", rr 40, "1");
    const HIGHER: &Files = thread!(program 8 "b", rr 41, "0-1");
    const SLICE: &Files = &[("/proc/sys/kernel/sched_rr_timeslice_ms", "100\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("two", &[TWO_CPUS, INIT, SLICE, FIRST, SECOND]).fails("100 ms"),
                case("one", &[TWO_CPUS, INIT, SLICE, FIRST]).passes("No two"),
                case("of two priorities", &[TWO_CPUS, INIT, SLICE, FIRST, HIGHER]).passes("No two"),
                case("on two CPUs", &[TWO_CPUS, INIT, SLICE, APART, OTHER_CPU]).passes("No two"),
                case("a container", &[TWO_CPUS, SLICE, FIRST]).cannot_tell("container"),
                case("hidden", &[TWO_CPUS]).cannot_tell("/proc"),
            ],
        );
    }
}
