//! Does every system call pass through auditing?

use super::shared::threads::with_those_of_kernel;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "audit",
    title: "System calls are not audited",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "auditctl(8)",
        "auditd(8)",
        "Documentation/admin-guide/kernel-parameters.rst",
        "kernel/auditsc.c",
    ],
    page: page!("audit"),
    check,
};

const WHY: &str = "With auditing on, each thread that starts takes a longer path into and out of every system call, \
                   whether a rule matches or not. A full queue makes callers wait, for up to a minute by default \
                   (audit_backlog_wait_time).";

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let cmdline = &host.kernel.cmdline;
    let shown = cmdline.need()?.show("audit");
    let wanted = cmdline.need()?.get("audit");
    if matches!(wanted, Some("0" | "off")) {
        return Ok(RuleOutcome::pass("Auditing is switched off at boot").shows_as(&cmdline.path, shown));
    }
    if let Some(config) = host.kernel.config.known().filter(|config| !config.has("AUDIT")) {
        return Ok(RuleOutcome::pass("The kernel has no auditing")
            .shows_as(&host.kernel.config.path, config.line("AUDIT")));
    }
    let threads = host.threads.each.need()?;
    let named = |name: &str| threads.iter().find(|thread| thread.comm == name && !thread.kernel);
    let fix = Fix::runtime("auditctl -e 0; or auditctl -a never,task, for threads that start afterwards")
        .action(Action::parameters("audit=0"))
        .boot("audit=0 on the kernel command line, or the rule in /etc/audit/rules.d/")
        .risk("events that a security policy requires are no longer recorded");
    if let Some(auditd) = named("auditd") {
        return Ok(RuleOutcome::fail("auditd runs: system calls are audited", WHY)
            .shows_as(format!("/proc/{}", auditd.pid), "auditd")
            .shows_as(&cmdline.path, shown)
            .fix(fix));
    }
    if matches!(wanted, Some("1" | "on")) {
        return Ok(RuleOutcome::fail("Auditing is switched on at boot", WHY)
            .shows_as(&cmdline.path, shown)
            .fix(fix));
    }
    // It may switch auditing on without auditd (Audit= in journald.conf(5)); no file shows whether it did.
    if named("systemd-journal").is_some() {
        return Err(CannotTell::because(
            "audit_enabled",
            "systemd-journald may have switched it on: auditctl -s shows it",
        ));
    }
    with_those_of_kernel(host)?;
    Ok(RuleOutcome::pass("No program has switched auditing on")
        .shows_as(&cmdline.path, shown)
        .shows_as("/proc", "no auditd"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const QUIET: &Files = &[("/proc/cmdline", "quiet")];
    const AUDITD: &Files = thread!(program 70 "auditd", other 0, "0-1");
    const JOURNALD: &Files = thread!(program 71 "systemd-journal", other 0, "0-1");
    const KTHREADD: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("off at boot", &[&[("/proc/cmdline", "audit=0")], AUDITD]).passes("off at boot"),
                case(
                    "not built in",
                    &[KERNEL_6_1, QUIET, &[("/boot/config-6.1.0-28-amd64", "CONFIG_SMP=y\n")]],
                )
                .passes("no auditing"),
                case("auditd", &[QUIET, KTHREADD, AUDITD]).fails("auditd runs"),
                case("on at boot", &[&[("/proc/cmdline", "audit=1")], KTHREADD]).fails("at boot"),
                case("no program", &[QUIET, KTHREADD]).passes("No program"),
                case("journald", &[QUIET, KTHREADD, JOURNALD]).cannot_tell("auditctl -s"),
                case("a container", &[QUIET, thread!(program 1 "app", other 0, "0")])
                    .cannot_tell("container"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
