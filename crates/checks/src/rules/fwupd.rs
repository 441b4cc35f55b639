//! Is the firmware asked for updates in the background?

use super::shared::threads::{place, with_those_of_kernel};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "fwupd",
    title: "No service queries the firmware for updates",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &["https://github.com/openshift/cluster-node-tuning-operator/pull/1591", "https://fwupd.org"],
    page: page!("fwupd"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let systemd = &host.systemd;
    let running = with_those_of_kernel(host)?.iter().find(|thread| thread.comm == "fwupd");
    let why = "fwupd calls the firmware, which may raise system management interrupts: all CPUs stop, isolated ones \
               too, and the kernel does not notice. OpenShift's node tuning stops its timer for this reason.";
    let fix = Fix::runtime("systemctl mask --now fwupd.service fwupd-refresh.timer")
        .boot("the same command: masking is persistent")
        .risk("update firmware manually, when no real-time work runs");
    if let Some(thread) = running {
        return Ok(RuleOutcome::fail("fwupd runs", why).shows_as(place(thread), "fwupd").fix(fix));
    }
    let Some(shipped) = systemd.shipped.if_present()? else {
        return Ok(RuleOutcome::not_applicable("There is no systemd to start fwupd"));
    };
    if !shipped.iter().any(|unit| unit == "fwupd.service") {
        return Ok(
            RuleOutcome::pass("fwupd is not installed").shows_as(&systemd.shipped.path, "no fwupd.service")
        );
    }
    if host.platform.fwupd_unit.known().is_some_and(|target| target == "null") {
        return Ok(RuleOutcome::pass("fwupd is masked").shows(&host.platform.fwupd_unit));
    }
    let timer = "fwupd-refresh.timer";
    if !systemd.is_enabled(timer)? {
        return Ok(RuleOutcome::pass("fwupd does not run, and no timer starts it")
            .shows_as(&systemd.enabled.path, format!("no {timer}")));
    }
    Ok(RuleOutcome::fail("A timer starts fwupd", why).shows_as(&systemd.enabled.path, timer).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const KTHREADD: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const RUNS: &Files = thread!(program 71 "fwupd", other 0, "0-1");
    const UNIT: (&str, &str) = ("/usr/lib/systemd/system/fwupd.service", "[Service]\n");
    const OTHER: (&str, &str) = ("/usr/lib/systemd/system/cron.service", "[Service]\n");
    const TIMER: (&str, &str) = ("/etc/systemd/system/timers.target.wants/fwupd-refresh.timer", "");
    const WANTS: (&str, &str) = ("/etc/systemd/system/multi-user.target.wants/cron.service", "");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("runs", &[KTHREADD, RUNS]).fails("fwupd runs"),
                case("a timer", &[KTHREADD, &[UNIT, TIMER]]).fails("timer"),
                case("no timer", &[KTHREADD, &[UNIT, WANTS]]).passes("no timer"),
                case("not installed", &[KTHREADD, &[OTHER]]).passes("not installed"),
                case("no systemd", &[KTHREADD]).does_not_apply("no systemd"),
                case("what is enabled is hidden", &[KTHREADD, &[UNIT]]).cannot_tell("/etc"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
                case("a container", &[thread!(program 1 "app", other 0, "0")]).cannot_tell("container"),
            ],
        );
    }
}
