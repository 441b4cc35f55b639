//! Do the ticks of all CPUs come at the same instant?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "skew-tick",
    title: "The CPUs' ticks do not coincide",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/admin-guide/kernel-parameters.rst",
        "kernel/time/tick-sched.c",
        "tuned-profiles(7)",
    ],
    page: page!("skew-tick"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let online = host.cpus.online.need()?;
    let cmdline = &host.kernel.cmdline;
    let shown = cmdline.need()?.show("skew_tick");
    if cmdline.need()?.get("skew_tick") == Some("1") {
        return Ok(RuleOutcome::pass("The ticks are skewed").shows_as(&cmdline.path, shown));
    }
    if online.len() < 2 {
        return Ok(RuleOutcome::not_applicable("There is only one CPU").shows(&host.cpus.online));
    }
    Ok(RuleOutcome::fail(
        format!("The ticks of {} CPUs come at the same instant", online.len()),
        "All CPUs then contend for the same locks, of timekeeping and of RCU, with interrupts disabled: the more \
         CPUs, the longer. The kernel documentation gives no number of CPUs; TuneD's real-time profiles skew ticks \
         on every machine.",
    )
    .shows(&host.cpus.online)
    .shows_as(&cmdline.path, shown)
    .fix(Fix::reboot("skew_tick=1 on the kernel command line").risk("idle CPUs wake up at different times: more power")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const MANY: &Files = &[("/sys/devices/system/cpu/online", "0-63\n")];
    const QUIET: &Files = &[("/proc/cmdline", "quiet")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("at once", &[MANY, QUIET]).fails("64 CPUs"),
                case("spread", &[MANY, &[("/proc/cmdline", "skew_tick=1")]]).passes("skewed"),
                case("switched off", &[MANY, &[("/proc/cmdline", "skew_tick=0")]]).fails("64 CPUs"),
                case("a small machine", &[TWO_CPUS, QUIET]).fails("2 CPUs"),
                case("one CPU", &[&[("/sys/devices/system/cpu/online", "0\n")], QUIET])
                    .does_not_apply("one CPU"),
                case("no command line", &[MANY]).cannot_tell("/proc"),
                case("no CPUs", &[QUIET]).cannot_tell("online"),
            ],
        );
    }
}
