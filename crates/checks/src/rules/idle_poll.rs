//! Do polling CPUs slow their siblings down?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, ParameterAction, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "idle-poll",
    title: "CPUs that poll when idle do not slow down their SMT siblings",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/admin-guide/kernel-parameters.rst",
        "Documentation/admin-guide/pm/cpuidle.rst",
        "drivers/idle/intel_idle.c (2 us for C1)",
    ],
    page: page!("idle-poll"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let cmdline = host.kernel.cmdline.need()?;
    if cmdline.get("idle") != Some("poll") {
        return Ok(RuleOutcome::not_applicable("CPUs do not poll when idle"));
    }
    let active = &host.cpus.smt_active;
    if !*active.need()? {
        return Ok(RuleOutcome::pass("CPUs poll when idle, and no two CPUs share a core")
            .shows_as(&host.kernel.cmdline.path, "idle=poll")
            .shows(active));
    }
    Ok(RuleOutcome::fail(
        "CPUs poll when idle, and share cores",
        "A CPU that polls keeps the execution units of its core busy: its sibling runs slower, although the polling \
         CPU has nothing to run.",
    )
    .shows_as(&host.kernel.cmdline.path, "idle=poll")
    .shows(active)
    .fix(Fix::reboot("nosmt in addition to idle=poll").action(Action::parameters("nosmt")).risk("half of the CPUs are then offline"))
    .fix(
        Fix::reboot("without idle=poll: intel_idle.max_cstate=1 processor.max_cstate=1").action(Action::KernelParameter { set: vec![ParameterAction { parameter: "idle".to_owned(), value: None }, ParameterAction { parameter: "intel_idle.max_cstate".to_owned(), value: Some("1".to_owned()) }, ParameterAction { parameter: "processor.max_cstate".to_owned(), value: Some("1".to_owned()) }] })
            .risk("leaving C1 takes 2 us on many Intel CPUs"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const POLL: (&str, &str) = ("/proc/cmdline", "quiet idle=poll");
    const ACTIVE: &str = "/sys/devices/system/cpu/smt/active";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("alone", &[&[POLL, (ACTIVE, "0\n")]]).passes("no two"),
                case("siblings", &[&[POLL, (ACTIVE, "1\n")]]).fails("share cores"),
                case("halting", &[&[("/proc/cmdline", "idle=nomwait"), (ACTIVE, "1\n")]])
                    .does_not_apply("not poll"),
                case("siblings or not", &[&[POLL]]).cannot_tell("/sys"),
                case("no command line", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
