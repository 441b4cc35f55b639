//! Are real-time CPUs interrupted to look for memory errors?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "machine-check-polling",
    title: "Machine-check polling is off",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/arch/x86/x86_64/machinecheck.rst",
        "Documentation/admin-guide/kernel-parameters.rst",
        "arch/x86/kernel/cpu/mce/core.c",
    ],
    page: page!("machine-check-polling"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let (interval, ignored) = (&host.cpus.check_interval, &host.cpus.ignore_ce);
    let Some(every) = interval.if_present()? else {
        return Ok(RuleOutcome::not_applicable(
            "There is no machine-check polling here: it is specific to x86, and some guests do not have it",
        ));
    };
    if ignored.if_present()? == Some(&true) {
        return Ok(RuleOutcome::pass("Corrected machine checks are ignored").shows(ignored));
    }
    if every == "0" {
        return Ok(RuleOutcome::pass("Machine-check polling is off").shows(interval));
    }
    Ok(RuleOutcome::fail(
        "Every CPU is polled for machine checks",
        "A timer on each CPU, isolated or not, reads all banks of its machine-check registers in interrupt context, \
         every 5 minutes by default, and more often after it found an error. /proc/interrupts counts it as MCP.",
    )
    .shows(interval)
    .fix(
        Fix::runtime("echo 1 > /sys/devices/system/machinecheck/machinecheck0/ignore_ce")
            .boot("mce=ignore_ce on the kernel command line")
            .risk("corrected memory errors, which often precede a memory failure, go unnoticed"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const INTERVAL: &str = "/sys/devices/system/machinecheck/machinecheck0/check_interval";
    const IGNORE: &str = "/sys/devices/system/machinecheck/machinecheck0/ignore_ce";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("usual", &[&[(INTERVAL, "300\n"), (IGNORE, "0\n")]]).fails("polled"),
                case("older kernels write hexadecimal", &[&[(INTERVAL, "12c\n")]]).fails("polled"),
                case("ignored", &[&[(INTERVAL, "300\n"), (IGNORE, "1\n")]]).passes("ignored"),
                case("not polled for", &[&[(INTERVAL, "0\n"), (IGNORE, "0\n")]]).passes("off"),
                case("a guest", &[TWO_CPUS]).does_not_apply("specific to x86"),
                case("malformed", &[&[(INTERVAL, "300\n"), (IGNORE, "?\n")]]).cannot_tell("ignore_ce"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
