//! Is a realtime kernel installed that does not run?

use crate::rule::page;
use crate::survey::survey;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rt-kernel-not-booted",
    title: "An installed realtime kernel is the running kernel",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["uname(1)", "kernel/Kconfig.preempt"],
    page: page!("rt-kernel-not-booted"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    if host.kernel.is_realtime()? {
        return Ok(RuleOutcome::pass("A realtime kernel runs").shows(&host.kernel.version));
    }
    let installed = host.kernel.installed.need()?;
    // Without the running kernel other kernels are elsewhere too: on an unmounted partition, or on the host.
    let list_is_complete = match installed.iter().any(|kernel| kernel.running) {
        true => Ok(()),
        false => Err(CannotTell::because(&host.kernel.installed.path, "the running kernel is not there")),
    };
    let others: Vec<_> = installed.iter().filter(|kernel| !kernel.running).collect();
    if others.is_empty() {
        return list_is_complete
            .map(|()| RuleOutcome::not_applicable("No other kernel is installed in /boot"));
    }
    let survey = survey("/boot", others.iter().map(|kernel| &kernel.realtime), |&realtime| !realtime)?;
    if survey.wrong.is_empty() {
        return list_is_complete
            .map(|()| RuleOutcome::not_applicable("No realtime kernel is installed in /boot"));
    }
    let waiting: Vec<_> = others
        .iter()
        .filter(|kernel| kernel.realtime.known() == Some(&true))
        .map(|kernel| &kernel.release)
        .collect();
    let mut answer = RuleOutcome::fail(
        format!("A realtime kernel is installed, but another one runs: {}", waiting[0]),
        "An update of the other kernel, or of the boot loader, may have changed the default; until the realtime \
         kernel is booted, latency has no bound.",
    )
    .shows(&host.kernel.release);
    for kernel in survey.wrong {
        answer = answer.shows_as(&kernel.path, "CONFIG_PREEMPT_RT=y");
    }
    Ok(answer.fix(
        Fix::reboot(format!(
            "make it the default and reboot: grub-set-default or grubby --set-default /boot/vmlinuz-{}",
            waiting[0]
        ))
        .by_hand("which kernel is booted is for the boot loader's menu")
        .risk("a missing driver may leave the machine without network or display"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn cases() {
        const RT: &Files = &[
            ("/boot/vmlinuz-6.1.0-28-rt-amd64", ""),
            ("/boot/config-6.1.0-28-rt-amd64", "CONFIG_PREEMPT_RT=y\n"),
        ];
        const OTHER: &Files =
            &[("/boot/vmlinuz-6.1.0-27-amd64", ""), ("/boot/config-6.1.0-27-amd64", "CONFIG_SMP=y\n")];
        const RUNNING: &Files = &[("/boot/vmlinuz-6.1.0-28-amd64", "")];
        table(
            &RULE,
            &[
                case("it waits", &[KERNEL_6_1, OTHER, RT]).fails("6.1.0-28-rt-amd64"),
                case("it runs", &[KERNEL_6_1_RT, RT]).passes("runs"),
                case("it alone", &[KERNEL_6_1, RUNNING]).does_not_apply("No other kernel"),
                case("kernels elsewhere", &[KERNEL_6_1, &[("/boot/efi", "")]]).cannot_tell("running kernel"),
                case("some elsewhere", &[KERNEL_6_1, OTHER]).cannot_tell("running kernel"),
                case("there is none", &[KERNEL_6_1, RUNNING, OTHER]).does_not_apply("No realtime kernel"),
                case("one of unknown sort", &[KERNEL_6_1, OTHER, &[("/boot/vmlinuz-9.9", "")]])
                    .cannot_tell("/boot/config-9.9"),
                case("a container", &[KERNEL_6_1]).cannot_tell("/boot"),
            ],
        );
    }
}
