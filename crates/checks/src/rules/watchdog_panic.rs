//! Does the machine panic when real-time threads starve other threads?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "watchdog-panic",
    title: "The machine does not panic when other threads have to wait",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/admin-guide/sysctl/kernel.rst",
        "Documentation/RCU/stallwarn.rst",
        "kernel/hung_task.c",
    ],
    page: page!("watchdog-panic"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let watchdogs = &host.sched.watchdogs;
    let (hung, stall) = (&watchdogs.hung_task_panic, &watchdogs.panic_on_rcu_stall);
    let mut found = Vec::new();
    let mut known = 0;
    for setting in [hung, stall] {
        if let Some(&value) = setting.if_present()? {
            known += 1;
            if value > 0 {
                found.push(setting);
            }
        }
    }
    if known == 0 {
        return Ok(RuleOutcome::not_applicable("This kernel has neither panic setting"));
    }
    if let [only] = found[..]
        && only == hung
        && *watchdogs.hung_task_timeout_secs.need()? == 0
    {
        return Ok(RuleOutcome::pass("Hung-task detection is off").shows(&watchdogs.hung_task_timeout_secs));
    }
    let Some(first) = found.first() else {
        return Ok(RuleOutcome::pass("Starving threads do not cause a panic").shows(hung).shows(stall));
    };
    let name = if *first == stall { "panic_on_rcu_stall" } else { "hung_task_panic" };
    let answer = RuleOutcome::fail(
        format!("The machine panics when threads starve: {name} is set"),
        "Real-time threads that use up a CPU block the threads bound to it: after kernel.hung_task_timeout_secs (120 \
         s) these count as hung, after 21 s (CONFIG_RCU_CPU_STALL_TIMEOUT) RCU counts as stalled. The machine then \
         reboots instead of logging a message.",
    );
    let answer = found.iter().fold(answer, |answer, setting| answer.shows(*setting));
    Ok(answer.fix(
        Fix::runtime(format!("sysctl -w kernel.{name}=0"))
            .boot(format!("kernel.{name} = 0 in /etc/sysctl.d/"))
            .risk("if a reboot is the intended reaction to a hang, keep the setting, and make sure that real-time \
                   threads sleep"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const HUNG: &str = "/proc/sys/kernel/hung_task_panic";
    const STALL: &str = "/proc/sys/kernel/panic_on_rcu_stall";
    const SECONDS: &str = "/proc/sys/kernel/hung_task_timeout_secs";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("neither", &[&[(HUNG, "0\n"), (STALL, "0\n")]]).passes("not cause a panic"),
                case("a stall", &[&[(HUNG, "0\n"), (STALL, "1\n")]]).fails("panic_on_rcu_stall"),
                case("hung", &[&[(HUNG, "1\n"), (STALL, "0\n"), (SECONDS, "120\n")]])
                    .fails("hung_task_panic"),
                case("hung, never looked for", &[&[(HUNG, "1\n"), (STALL, "0\n"), (SECONDS, "0\n")]])
                    .passes("detection is off"),
                case("no such settings", &[&[("/proc/stat", "")]]).does_not_apply("neither"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
