//! Without PREEMPT_RT: may interrupt handlers wait for real-time threads?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "threadirqs",
    title: "Interrupt handlers are threads",
    severity: Severity::Info,
    profiles: &[Profile::Audio],
    sources: &["Documentation/admin-guide/kernel-parameters.rst", "kernel/irq/manage.c"],
    page: page!("threadirqs"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    if host.kernel.is_realtime()? {
        return Ok(
            RuleOutcome::pass("PREEMPT_RT makes interrupt handlers threads").shows(&host.kernel.version)
        );
    }
    let cmdline = &host.kernel.cmdline;
    let shown = cmdline.need()?.show("threadirqs");
    let threaded = cmdline.need()?.has("threadirqs");
    if threaded && host.kernel.config.need()?.has("IRQ_FORCED_THREADING") {
        return Ok(RuleOutcome::pass("Interrupt handlers are threads").shows_as(&cmdline.path, shown));
    }
    if threaded {
        return Ok(RuleOutcome::fail("threadirqs is given, but this kernel does not support it", WHY)
            .shows_as(&cmdline.path, shown)
            .shows_as(&host.kernel.config.path, host.kernel.config.need()?.line("IRQ_FORCED_THREADING"))
            .fix(
                Fix::reboot("boot a kernel with CONFIG_IRQ_FORCED_THREADING")
                    .by_hand("another kernel is to be installed or built")
                    .risk("none known"),
            ));
    }
    Ok(RuleOutcome::fail("Interrupt handlers run above every priority", WHY)
        .shows_as(&cmdline.path, shown)
        .fix(Fix::reboot("threadirqs on the kernel command line").risk(
            "each interrupt costs a context switch; raise the sound card's thread above others (rtirq)",
        )))
}

const WHY: &str = "The handler of a disk or a network card delays the sound server, at any priority. As threads, at \
                   priority 50, the sound card's handler can run before the others.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const GIVEN: &Files = &[("/proc/cmdline", "quiet threadirqs")];
    const KNOWN: &Files = &[("/boot/config-6.1.0-28-amd64", "CONFIG_IRQ_FORCED_THREADING=y\n")];
    const UNKNOWN: &Files = &[("/boot/config-6.1.0-28-amd64", "CONFIG_SMP=y\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("PREEMPT_RT", &[KERNEL_6_1_RT]).passes("PREEMPT_RT"),
                case("given", &[KERNEL_6_1, GIVEN, KNOWN]).passes("are threads"),
                case("given in vain", &[KERNEL_6_1, GIVEN, UNKNOWN]).fails("does not support"),
                case("not given", &[KERNEL_6_1, &[("/proc/cmdline", "quiet")]]).fails("above every priority"),
                case("given, unknown build", &[KERNEL_6_1, GIVEN]).cannot_tell("config"),
                case("no command line", &[KERNEL_6_1]).cannot_tell("/proc"),
            ],
        );
    }
}
