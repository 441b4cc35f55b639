//! Does the guest read the TSC itself?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "guest-clock",
    title: "The guest reads the time from the TSC where the host allows it",
    severity: Severity::Info,
    profiles: &[Profile::RealtimeVirtualGuest],
    sources: &["Documentation/virt/kvm/x86/timekeeping.rst", "arch/x86/kernel/kvmclock.c"],
    page: page!("guest-clock"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let source = &host.clocks.source;
    if source.current.need()? != "kvm-clock" {
        return Ok(RuleOutcome::not_applicable("Time is not read from kvm-clock").shows(&source.current));
    }
    let available = source.available.need()?;
    if !available.has("kvm-clock") {
        return Err(CannotTell::because(
            &source.available.path,
            "the current clock source is not in the list",
        ));
    }
    if !available.has("tsc") {
        return Ok(RuleOutcome::pass("kvm-clock is the best clock available to this guest")
            .shows(&source.current)
            .shows(&source.available));
    }
    Ok(RuleOutcome::fail(
        "Time is read from kvm-clock although the TSC is available",
        "kvm-clock scales the TSC with numbers that the host writes to a page, and reads them again if they changed \
         meanwhile; the host updates them for all vCPUs from time to time.",
    )
    .shows(&source.current)
    .shows(&source.available)
    .fix(
        Fix::runtime(format!("echo tsc > {}", source.current.path))
            .boot("clocksource=tsc tsc=reliable on the kernel command line, with an invariant TSC in the guest's definition")
            .risk("after a migration to a host with another frequency the time is wrong"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("both", &[&[(CURRENT, "kvm-clock\n"), (AVAILABLE, "kvm-clock tsc acpi_pm\n")]])
                    .fails("although"),
                case("alone", &[&[(CURRENT, "kvm-clock\n"), (AVAILABLE, "kvm-clock acpi_pm\n")]])
                    .passes("best"),
                case("what there is is empty", &[&[(CURRENT, "kvm-clock\n"), (AVAILABLE, "")]])
                    .cannot_tell("not in the list"),
                case("tsc", &[&[(CURRENT, "tsc\n")]]).does_not_apply("not read from kvm-clock"),
                case("what there is is hidden", &[&[(CURRENT, "kvm-clock\n")]]).cannot_tell("available"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
