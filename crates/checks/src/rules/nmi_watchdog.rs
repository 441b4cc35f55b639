//! Do non-maskable interrupts come to the real-time CPUs to look for lockups?

use super::shared::common;
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{Cmdline, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "nmi-watchdog",
    title: "The hard lockup detector does not run on the real-time CPUs",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/admin-guide/lockup-watchdogs.rst",
        "Documentation/admin-guide/sysctl/kernel.rst",
        "Documentation/core-api/real-time/kernel-configuration.rst",
        "https://git.kernel.org/torvalds/c/77b1a7f7a05c (changes for v6.5: the buddy detector)",
        "arch/arm64/kernel/watchdog_hld.c (arch_perf_nmi_is_available)",
    ],
    page: page!("nmi-watchdog"),
    check,
};

/// Lets interrupts of arm64 be as non-maskable ones (`Documentation/admin-guide/kernel-parameters.txt`).
const PSEUDO_NMI: &str = "irqchip.gicv3_pseudo_nmi";

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let watchdogs = &host.sched.watchdogs;
    let own = &watchdogs.nmi_watchdog;
    match own.if_present()? {
        None => return Ok(RuleOutcome::not_applicable("This kernel has no hard lockup detector").shows(own)),
        Some(false) => return Ok(RuleOutcome::pass("The hard lockup detector is off").shows(own)),
        Some(true) => {}
    }
    // Since 6.5 each CPU can watch its neighbour instead, from the timer that `soft-watchdog` describes.
    if host.kernel.config.known().is_some_and(|config| config.has("HARDLOCKUP_DETECTOR_BUDDY")) {
        return Ok(RuleOutcome::pass("The hard lockup detector does not use a non-maskable interrupt")
            .shows_as(&host.kernel.config.path, "CONFIG_HARDLOCKUP_DETECTOR_BUDDY=y"));
    }
    // On arm64 a performance counter can raise one only by the priority mask of the interrupt controller; without it the
    // neighbour watches (`arch_perf_nmi_is_available`, `arch/arm64/kernel/watchdog_hld.c`).
    let is_arm = host.cpus.info.known().is_some_and(|info| info.contains("CPU implementer"));
    let parameters = &host.kernel.cmdline;
    let has_none = |line: &Cmdline| !matches!(line.get(PSEUDO_NMI), Some("1" | "y" | "Y" | "on"));
    if is_arm && let Some(line) = parameters.known().filter(|line| has_none(line)) {
        return Ok(RuleOutcome::pass("The hard lockup detector does not use a non-maskable interrupt")
            .shows_as(&parameters.path, line.show(PSEUDO_NMI)));
    }
    let watched = &watchdogs.watchdog_cpumask;
    let cpus = options.cpus(host)?;
    let shared = common(watched.need()?, &cpus);
    if shared.is_empty() {
        return Ok(
            RuleOutcome::pass(format!("The hard lockup detector does not watch CPUs {cpus}")).shows(watched)
        );
    }
    Ok(RuleOutcome::fail(
        format!("The hard lockup detector interrupts CPUs {shared}"),
        "A performance counter raises a non-maskable interrupt after each kernel.watchdog_thresh seconds of CPU \
         time; it preempts everything. The counter is also not available to perf.",
    )
    .shows(own)
    .shows(watched)
    .fix(
        Fix::runtime("sysctl -w kernel.nmi_watchdog=0")
            .boot("nmi_watchdog=0 on the kernel command line")
            .risk("the kernel no longer reports a CPU that hangs with interrupts disabled: use a hardware watchdog"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ON: &Files =
        &[("/proc/sys/kernel/nmi_watchdog", "1\n"), ("/proc/sys/kernel/watchdog_cpumask", "0-1\n")];
    const BUDDY: &Files = &[("/boot/config-6.1.0-28-amd64", "CONFIG_HARDLOCKUP_DETECTOR_BUDDY=y\n")];
    const ARM: &Files = &[("/proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\n")];
    const FIRST: &Files = &[("/proc/sys/kernel/watchdog_cpumask", "0\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("on", &[TWO_CPUS, ON]).fails("CPUs 0-1"),
                case("elsewhere", &[TWO_CPUS, ON, FIRST]).cpus("1").passes("does not watch"),
                case("off", &[TWO_CPUS, &[("/proc/sys/kernel/nmi_watchdog", "0\n")]]).passes("off"),
                case("by the neighbour", &[KERNEL_6_1, TWO_CPUS, ON, BUDDY]).passes("does not use"),
                case("arm64", &[TWO_CPUS, ON, ARM, &[("/proc/cmdline", "quiet\n")]]).passes("does not use"),
                case(
                    "arm64 with pseudo-NMI",
                    &[TWO_CPUS, ON, ARM, &[("/proc/cmdline", "irqchip.gicv3_pseudo_nmi=1\n")]],
                )
                .fails("CPUs 0-1"),
                case("arm64, parameters not known", &[TWO_CPUS, ON, ARM]).fails("CPUs 0-1"),
                case("none", &[TWO_CPUS, &[("/proc/stat", "")]]).does_not_apply("no hard"),
                case("on, CPUs not known", &[TWO_CPUS, &[("/proc/sys/kernel/nmi_watchdog", "1\n")]])
                    .cannot_tell("cpumask"),
                case("hidden", &[TWO_CPUS]).cannot_tell("/proc"),
            ],
        );
    }
}
