//! Does an idle guest give its CPU back to the host?

use super::shared::hardware::{Ground, ground};
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::{Reading, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "guest-idle",
    title: "An idle guest polls before it gives up its CPU",
    severity: Severity::Info,
    profiles: &[Profile::RealtimeVirtualGuest],
    sources: &[
        "Documentation/virt/guest-halt-polling.rst",
        "Documentation/virt/kvm/halt-polling.rst",
        "Documentation/core-api/real-time/hardware.rst",
    ],
    page: page!("guest-idle"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    if let Ground::Metal(_) = ground(host)? {
        return Ok(RuleOutcome::not_applicable("The machine is not a guest"));
    }
    let cmdline = &host.kernel.cmdline;
    if cmdline.need()?.get("idle") == Some("poll") {
        return Ok(RuleOutcome::pass("Idle CPUs poll").shows_as(&cmdline.path, "idle=poll"));
    }
    let (driver, governor) = (&host.cpus.idle_driver, &host.cpus.idle_governor);
    let polls = |reading: &Reading<String>| {
        Ok::<_, CannotTell>(reading.if_present()?.is_some_and(|name| name == "haltpoll"))
    };
    if polls(driver)? || polls(governor)? {
        let for_ns = host.kernel.parameters.get("haltpoll/guest_halt_poll_ns");
        return Ok(match for_ns.map(Reading::if_present).transpose()?.flatten().map(String::as_str) {
            Some("0") => failed(cmdline.need()?.show("idle"), &cmdline.path)
                .shows(driver)
                .shows_as("/sys/module/haltpoll/parameters/guest_halt_poll_ns", "0"),
            _ => RuleOutcome::pass("Idle CPUs poll before they halt").shows(driver).shows(governor),
        });
    }
    Ok(failed(cmdline.need()?.show("idle"), &cmdline.path).shows(driver))
}

fn failed(idle: String, path: &str) -> RuleOutcome {
    RuleOutcome::fail(
        "An idle CPU halts at once, and the host takes it back",
        "To wake it, the host must be entered, schedule the vCPU's thread and enter the guest again. With polling in \
         the guest, a wake-up soon after needs none of this.",
    )
    .shows_as(path, idle)
    .fix(
        Fix::runtime("modprobe cpuidle_haltpoll force=1; echo 200000 > /sys/module/haltpoll/parameters/guest_halt_poll_ns").by_hand("a module is to be loaded first")
            .boot("the module in /etc/modules-load.d with force=1 in /etc/modprobe.d; haltpoll.guest_halt_poll_ns=200000")
            .risk("the host CPU is busy meanwhile: each vCPU needs its own"),
    )
    .fix(Fix::reboot("idle=poll on the guest's kernel command line").action(Action::parameters("idle=poll")).risk("its vCPUs keep the host's CPUs busy all \
                                                                           the time"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const GUEST: &Files = &[("/proc/cpuinfo", "flags : fpu hypervisor\n"), ("/proc/cmdline", "quiet\n")];
    const DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";
    const FOR: (&str, &str) = ("/sys/module/haltpoll/parameters/guest_halt_poll_ns", "0\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("halts", &[GUEST, &[(DRIVER, "none\n")]]).fails("halts at once"),
                case("haltpoll", &[GUEST, &[(DRIVER, "haltpoll\n")]]).passes("before they halt"),
                case("for no time", &[GUEST, &[(DRIVER, "haltpoll\n"), FOR]]).fails("halts at once"),
                case("idle=poll", &[GUEST, &[("/proc/cmdline", "idle=poll")]]).passes("poll"),
                case("not a guest", &[&[("/proc/cpuinfo", "flags : fpu\n")]]).does_not_apply("not a guest"),
                case("idle is hidden", &[GUEST]).cannot_tell("/sys"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
