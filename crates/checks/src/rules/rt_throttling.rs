//! Can RT bandwidth control stop real-time threads?

mod choice;

use super::shared::{Throttle, throttle};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rt-throttling",
    title: "RT bandwidth control does not stop real-time threads",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &["sched(7)", "Documentation/scheduler/sched-rt-group.rst", "kernel/sched/rt.c"],
    page: page!("rt-throttling"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let throttle = throttle(host)?;
    let choices = choice::choices(host, options, throttle);
    Ok(RuleOutcome { choices, ..stops(host, throttle)? })
}

fn stops(host: &Snapshot, throttle: Throttle) -> RuleResult {
    let (runtime, period) = (&host.sched.rt_runtime_us, &host.sched.rt_period_us);
    if throttle == Throttle::None {
        return Ok(RuleOutcome::pass(
            "This kernel has no RT throttling: sched_rt_runtime_us only limits SCHED_DEADLINE reservations",
        )
        .shows(&host.kernel.release)
        .shows_as(&host.kernel.config.path, "CONFIG_RT_GROUP_SCHED is not set"));
    }
    let limit = *runtime.need()?;
    if limit < 0 {
        return Ok(RuleOutcome::pass("RT throttling is off").shows(runtime));
    }
    let length = *period.need()?;
    if limit >= length {
        return Ok(RuleOutcome::pass("RT throttling leaves real-time threads the whole period")
            .shows(runtime)
            .shows(period));
    }
    let stop = length - limit;
    let answer = match throttle {
        Throttle::Borrowing => RuleOutcome::fail(
            format!("RT throttling allows {limit} us of each {length} us, and a CPU may borrow from others"),
            format!(
                "Before 5.10 a CPU borrows unused runtime of others (RT_RUNTIME_SHARE), so that a single looping \
                 thread is not stopped; with real-time load on all CPUs every one of them stops for up to {stop} us."
            ),
        )
        .graded(Severity::Info),
        _ => RuleOutcome::fail(
            format!("RT throttling stops all real-time threads of a CPU for {stop} us once they used {limit} us"),
            format!(
                "Together the SCHED_FIFO and SCHED_RR threads of a CPU may use {limit} us of each {length} us; then \
                 all of them stop, even if no other thread needs the CPU. A priority 50 task on the same CPU as a \
                 looping task of priority 1 is late by {stop} us once each period."
            ),
        ),
    };
    Ok(answer.shows(runtime).shows(period).shows(&host.kernel.release).fix(
        Fix::runtime("sysctl -w kernel.sched_rt_runtime_us=-1")
            .boot("kernel.sched_rt_runtime_us = -1 in /etc/sysctl.d/")
            .risk("a real-time thread that loops then hangs its CPU, kernel threads included: run whylate guard or stalld"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
    const ON: &Files = &[(RUNTIME, "950000\n"), ("/proc/sys/kernel/sched_rt_period_us", "1000000\n")];
    const OFF: &Files = &[(RUNTIME, "-1\n")];
    const NO_GROUPS: &Files = &[("/boot/config-6.12.38+deb13-amd64", "CONFIG_SMP=y\n")];
    const GROUPS: &Files =
        &[("/boot/config-6.12.38+deb13-amd64", "CONFIG_RT_GROUP_SCHED=y\n"), ("/proc/cmdline", "quiet\n")];
    const OLD: &Files = &[("/proc/sys/kernel/osrelease", "4.19.0\n")];

    /// The choices that are explained for a machine.
    fn explained(files: &[&Files]) -> String {
        let tree = whylate_host::FsRoot::memory(&files.concat());
        let (host, options) = (Snapshot::read(&tree), CheckOptions::of(Profile::Realtime));
        let choices = check(&host, &options).expect("an answer").choices;
        choices.iter().map(|choice| format!("{}: {}\n", choice.name, choice.here)).collect()
    }

    #[test]
    fn the_choice_has_the_numbers_of_the_machine() {
        const HOG: &Files = thread!(program 9 "loop", fifo 50, "0-1");
        const SERVER: &Files = &[
            ("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n"),
            ("/sys/kernel/debug/sched/fair_server/cpu0/period", "1000000000\n"),
        ];
        const INIT: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
        let old = explained(&[KERNEL_6_1, ON, TWO_CPUS, HOG, INIT]);
        for part in
            ["50000 us of each 1000000 us", "has none", "none runs", "have 1 real-time threads", "guard`"]
        {
            assert!(old.contains(part), "{part}: {old}");
        }
        let new = explained(&[KERNEL_6_12, NO_GROUPS, ON, TWO_CPUS, INIT, SERVER]);
        for part in [
            "this kernel has none",
            "on for CPUs 0: ",
            "50 ms of each 1000 ms",
            "no program has",
            "keep the fair",
        ] {
            assert!(new.contains(part), "{part}: {new}");
        }
        let hidden = explained(&[KERNEL_6_1, OFF]);
        assert!(
            hidden.contains("off: no real-time thread") && hidden.contains("cannot tell which"),
            "{hidden}"
        );
    }

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("6.1", &[KERNEL_6_1, ON]).fails("50000 us"),
                case("6.1, off", &[KERNEL_6_1, OFF]).passes("off"),
                case("before 5.10", &[OLD, ON]).fails_as(Severity::Info, "borrow"),
                case("6.12", &[KERNEL_6_12, ON, NO_GROUPS]).passes("no RT throttling"),
                case("6.12 with groups", &[KERNEL_6_12, ON, GROUPS]).fails("50000 us"),
                case(
                    "6.12 with groups switched off",
                    &[KERNEL_6_12, ON, GROUPS, &[("/proc/cmdline", "rt_group_sched=0")]],
                )
                .fails("50000 us"),
                case("6.12 of unknown build", &[KERNEL_6_12, ON]).cannot_tell("config"),
                case("the whole period", &[KERNEL_6_1, ON, &[(RUNTIME, "1000000")]]).passes("whole"),
                case("no sysctl", &[KERNEL_6_1]).cannot_tell(RUNTIME),
                case("nonsense", &[KERNEL_6_1, &[(RUNTIME, "many")]]).cannot_tell("a whole number"),
            ],
        );
    }
}
