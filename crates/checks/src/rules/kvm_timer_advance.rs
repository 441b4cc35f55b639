//! Does KVM fire the timers of guests ahead of time?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "kvm-timer-advance",
    title: "KVM fires the timers of guests ahead of time",
    severity: Severity::Info,
    profiles: &[Profile::RealtimeVirtualHost],
    sources: &["arch/x86/kvm/lapic.c", "arch/x86/kvm/x86.c"],
    page: page!("kvm-timer-advance"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let unread = |name: &str| CannotTell::because(format!("/sys/module/{name}"), "not read");
    let parameter = |name: &str| host.kernel.parameters.get(name).ok_or_else(|| unread(name));
    // A switch on new kernels, nanoseconds on others.
    let (switch, ns) = (parameter("kvm/lapic_timer_advance")?, parameter("kvm/lapic_timer_advance_ns")?);
    let (is_off, reading, on) = match (switch.if_present()?, ns.if_present()?) {
        (Some(value), _) => (value == "N", switch, "Y"),
        (None, Some(value)) => (value == "0", ns, "-1"),
        (None, None) => {
            return Ok(RuleOutcome::not_applicable("The module kvm is not loaded, or not for x86"));
        }
    };
    if !is_off {
        return Ok(RuleOutcome::pass(
            "Timers of guests expire ahead by the time that it takes to enter the guest",
        )
        .shows(reading));
    }
    Ok(RuleOutcome::fail(
        "Timers of guests do not expire ahead of time",
        "Between the expiry of a guest's timer on the host and the guest's interrupt lies the entry into the guest, some \
         microseconds. KVM can set the timer earlier by that time and wait for the rest of it in front of the entry.",
    )
    .shows(reading)
    .fix(
        Fix::reboot(format!("options kvm {}={on} in /etc/modprobe.d", reading.path.rsplit('/').next().unwrap_or_default())).by_hand("options of a module are set when it is loaded, by a file of /etc/modprobe.d")
            .risk("a vCPU spins for up to some microseconds at a timer's expiry"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const SWITCH: &str = "/sys/module/kvm/parameters/lapic_timer_advance";
    const NS: &str = "/sys/module/kvm/parameters/lapic_timer_advance_ns";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("adaptive", &[TWO_CPUS, &[(NS, "-1\n")]]).passes("ahead"),
                case("a fixed time", &[TWO_CPUS, &[(NS, "1000\n")]]).passes("ahead"),
                case("on", &[TWO_CPUS, &[(SWITCH, "Y\n")]]).passes("ahead"),
                case("off", &[TWO_CPUS, &[(SWITCH, "N\n")]]).fails("do not"),
                case("0 ns", &[TWO_CPUS, &[(NS, "0\n")]]).fails("do not"),
                case("no KVM", &[TWO_CPUS]).does_not_apply("not loaded"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
