//! Does KVM stop vCPUs for its own purposes?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "kvm-exits",
    title: "KVM does not interrupt vCPUs for maintenance",
    severity: Severity::Info,
    profiles: &[Profile::RealtimeVirtualHost],
    sources: &[
        "arch/x86/kvm/x86.c (kvmclock_periodic_sync)",
        "arch/x86/kvm/vmx/vmx.c (ple_gap)",
        "Documentation/virt/kvm/halt-polling.rst",
    ],
    page: page!("kvm-exits"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let unread = |name: &str| CannotTell::because(format!("/sys/module/{name}"), "not read");
    let parameter = |name: &str| host.kernel.parameters.get(name).ok_or_else(|| unread(name));
    let (sync, gap) = (parameter("kvm/kvmclock_periodic_sync")?, parameter("kvm_intel/ple_gap")?);
    let gap = match gap.if_present()? {
        Some(_) => gap,
        // AMD's.
        None => parameter("kvm_amd/pause_filter_count")?,
    };
    let (synced, exits) = (sync.if_present()?, gap.if_present()?);
    if synced.is_none() && exits.is_none() {
        return Ok(RuleOutcome::not_applicable("The module kvm is not loaded, or not for x86"));
    }
    let synced = synced.is_some_and(|value| value == "Y");
    let exits = exits.is_some_and(|value| value != "0");
    let halt_poll = parameter("kvm/halt_poll_ns")?;
    if !synced && !exits {
        return Ok(RuleOutcome::pass("KVM stops vCPUs neither for clock updates nor for pause-loop exits")
            .shows(sync)
            .shows(gap));
    }
    let what = match (synced, exits) {
        (true, true) => "KVM stops vCPUs for clock updates and for pause-loop exits",
        (true, false) => "KVM stops vCPUs for clock updates",
        _ => "KVM stops vCPUs for pause-loop exits",
    };
    Ok(RuleOutcome::fail(
        what,
        "Every 5 minutes all vCPUs of a guest exit to update their kvm-clock. With pause-loop exits a vCPU that \
         waits for a spinlock leaves the guest so that others can run, which has no benefit if each vCPU has its own \
         CPU.",
    )
    .shows(sync)
    .shows(gap)
    .shows(halt_poll)
    .fix(
        Fix::reboot("options kvm kvmclock_periodic_sync=0 and options kvm_intel ple_gap=0 (AMD: options kvm_amd pause_filter_count=0) in /etc/modprobe.d").by_hand("options of a module are set when it is loaded, by a file of /etc/modprobe.d")
            .risk("vCPUs that share a CPU wait longer for each other's spinlocks"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const SYNC: &str = "/sys/module/kvm/parameters/kvmclock_periodic_sync";
    const FILTER: &str = "/sys/module/kvm_amd/parameters/pause_filter_count";
    const GAP: &str = "/sys/module/kvm_intel/parameters/ple_gap";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("as it comes", &[&[(SYNC, "Y\n"), (GAP, "128\n")]]).fails("and for pause-loop"),
                case("clocks", &[&[(SYNC, "Y\n"), (GAP, "0\n")]]).fails("clock updates"),
                case("loops", &[&[(SYNC, "N\n"), (GAP, "128\n")]]).fails("for pause-loop"),
                case("neither", &[&[(SYNC, "N\n"), (GAP, "0\n")]]).passes("neither"),
                case("AMD", &[&[(SYNC, "N\n"), (FILTER, "3000\n")]]).fails("for pause-loop"),
                case("AMD, off", &[&[(SYNC, "N\n"), (FILTER, "0\n")]]).passes("neither"),
                case("no KVM", &[TWO_CPUS]).does_not_apply("not loaded"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
