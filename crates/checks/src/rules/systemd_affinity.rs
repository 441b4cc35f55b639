//! Do the CPU settings of systemd include the real-time CPUs?

use super::shared::common;
use super::shared::cpus::{NO_CPUS_CHOSEN, housekeeping, of_parameter, real_time};
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{CpuSet, Severity};
use whylate_host::{Snapshot, Unit};

pub(super) const RULE: Rule = Rule {
    code: "systemd-affinity",
    title: "systemd CPU settings do not include the real-time CPUs",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &["systemd-system.conf(5)", "systemd.exec(5)", "systemd.resource-control(5)"],
    page: page!("systemd-affinity"),
    check,
};

/// The slices and scopes of other work.
const COMMON: [&str; 4] = ["system.slice", "user.slice", "machine.slice", "init.scope"];

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    if host.systemd.enabled.if_present()?.is_none() {
        return Ok(RuleOutcome::not_applicable("systemd is not installed"));
    }
    let possible = host.cpus.possible.need()?;
    let mut settings = Vec::new();
    settings.extend(configured(host.systemd.manager.iter(), "CPUAffinity", possible)?);
    for slice in COMMON {
        let own = host.systemd.units.iter().filter(|unit| unit.name == slice);
        settings.extend(configured(own, "AllowedCPUs", possible)?);
    }
    let with = |answer: RuleOutcome| {
        let shown = |(path, setting, _): &(String, String, CpuSet)| (path.clone(), setting.clone());
        settings.iter().map(shown).fold(answer, |answer, (path, setting)| answer.shows_as(path, setting))
    };
    let Some((_, setting, here)) = settings.iter().find(|(.., listed)| !common(listed, &cpus).is_empty())
    else {
        return Ok(match settings.is_empty() {
            true => RuleOutcome::not_applicable(
                "systemd has no CPU settings: `unbound-threads` checks the threads",
            ),
            false => with(RuleOutcome::pass(format!("systemd keeps other programs off CPUs {cpus}"))),
        });
    };
    let rest = housekeeping(host, &cpus)?;
    Ok(with(RuleOutcome::fail(
        format!("systemd has {setting}, but CPUs {} are real-time", common(here, &cpus)),
        "The setting was meant to keep services off the real-time CPUs, or was made for others: everything that \
         systemd starts inherits it.",
    ))
    .fix(
        Fix::runtime(format!("systemctl set-property system.slice AllowedCPUs={rest}, and the same for the other \
                              slices")).by_hand("slices of systemd have no setting that a plan makes; a cpuset partition or isolcpus= of a profile does the same")
            .boot(format!("CPUAffinity={rest} in /etc/systemd/system.conf, then reboot"))
            .risk("a service that needs these CPUs must request them: CPUAffinity= in its unit"),
    ))
}

/// The value of a key from all files: the lists add up, and an empty one resets them. With the last file that sets
/// the key.
fn configured<'a>(
    units: impl Iterator<Item = &'a Unit>,
    key: &str,
    possible: &CpuSet,
) -> Result<Option<(String, String, CpuSet)>, CannotTell> {
    let mut found: Option<(String, String, CpuSet)> = None;
    for unit in units {
        let path = &unit.settings.path;
        for (_, value) in unit.settings.if_present()?.into_iter().flatten().filter(|(own, _)| own == key) {
            let list = value.split([' ', ',']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",");
            if list.is_empty() {
                found = None;
                continue;
            }
            let cpus = of_parameter(&list, possible)
                .ok_or_else(|| CannotTell::because(path, format!("{key}={value} is not a CPU list")))?;
            let before = found.take().map(|(.., before)| before).unwrap_or_default();
            let all: CpuSet = before.iter().chain(cpus.iter()).collect();
            found = Some((path.clone(), format!("{key}={all}"), all));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const CPUS: &Files =
        &[("/sys/devices/system/cpu/online", "0-3\n"), ("/sys/devices/system/cpu/possible", "0-3\n")];
    const NONE: &Files = &[("/etc/systemd/system/x.target.wants/x.service", "")];
    const CONF: &str = "/etc/systemd/system.conf";
    const SLICE: &str = "/etc/systemd/system/system.slice.d/50-AllowedCPUs.conf";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("apart", &[CPUS, NONE, &[(CONF, "[Manager]\nCPUAffinity=0-1\n")]])
                    .cpus("2-3")
                    .passes("CPUs 2-3"),
                case("here", &[CPUS, NONE, &[(CONF, "CPUAffinity=0 1,2\n")]])
                    .cpus("2-3")
                    .fails("CPUAffinity=0-2, but CPUs 2"),
                case("lists add up", &[CPUS, NONE, &[(CONF, "CPUAffinity=0\nCPUAffinity=3\n")]])
                    .cpus("3")
                    .fails("0,3"),
                case(
                    "an empty one starts anew",
                    &[CPUS, NONE, &[(CONF, "CPUAffinity=3\nCPUAffinity=\nCPUAffinity=0\n")]],
                )
                .cpus("3")
                .passes("CPUs 3"),
                case("a slice", &[CPUS, NONE, &[(SLICE, "[Slice]\nAllowedCPUs=0-3\n")]])
                    .cpus("3")
                    .fails("AllowedCPUs"),
                case("a word", &[CPUS, NONE, &[(CONF, "CPUAffinity=numa\n")]])
                    .cpus("3")
                    .cannot_tell("CPUAffinity=numa"),
                case("nothing said", &[CPUS, NONE]).cpus("3").does_not_apply("no CPU settings"),
                case("no systemd", &[CPUS, &[("/etc/hostname", "x")]])
                    .cpus("3")
                    .does_not_apply("not installed"),
                case("hidden", &[CPUS]).cpus("3").cannot_tell("/etc"),
            ],
        );
    }
}
